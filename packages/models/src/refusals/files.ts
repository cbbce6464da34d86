// The room of refusals about a file in the history: an image that is too large, one too many, broken, or in a place where
// this server accepts none; a sound or a video that it cannot decode, or whose kind of part it does not know. It stays in
// the history, so every later request would be refused as well (F117, F118).

import { anyOf, phrases } from "../patterns.ts";
import { lostFileWords } from "../transport/error-words.ts";
import { isNear } from "./near.ts";

/** The names of files, and of the parts that hold them. */
const file: RegExp = anyOf(
  "gi",
  /(?:\b|(?<=\binvalid_))images?(?:_(?:urls?|format|parse_error))?\b/,
  /\binline_data\b/,
  /\bpdfs?\b/,
  /\bpdf pages\b/,
  /\bdocuments\b/,
  /\bdocument[. ](?:source|bytes|size)\b/,
  /\bmedia(?= (?:exceeds|(?:file )?size|is too)\b)/,
  /\binput_(?:image|file|audio)\b/,
  /\bmultimodal\b/,
  /\bvision\b/,
  /\b(?:image|document) input\b/,
  /(?<![-_]|\boutput |\bmodalit(?:y|ies)\b[^.{}]{0,40})\b(?:audio|video)s?\b(?![-_]| (?:output|generation)\b)/,
  /\bcontent\[\]\.type\b/,
  /\bpart type\b/,
  /\binput tag [`'"\\]*\w*(?:file|image|audio|video)\w*/,
  /(?<!response[ _])\bmime[ _]?types?\b/,
  /\bfile ur[il]\b/,
  /\bcontent from the provided url\b/,
  /\bthe document has\b/,
);
/** What may be wrong with one. */
const refused: RegExp = phrases(
  /exceed/,
  /too (?:large|many|much|big|small|short|long)/,
  /(?:could not|cannot|unable to|failed to) (?:be )?(?:process|decode|read|parse|download|load|sanitize|fetch|identify|extract)/,
  /error (?:in|while) (?:load|read|decod|process)ing/,
  /(?:invalid|unsupported|unknown|corrupt(?:ed)?|malformed)\b/,
  /\binvalid_image/,
  /parse_error/,
  /less than \d/,
  /at least \d/,
  /not accessible/,
  /not an image/,
  /is empty/,
  /not (?:a )?valid/,
  /does not match/,
  /appears to be/,
  /only (?:allowed|supported)/,
  /\bonly [^.{}]{1,60} (?:are|is) supported/,
  /\bmore than \d/,
  /(?:not|cannot be) (?:allowed|permitted|empty)/,
  /(?:input|content|modality) is not enabled/,
  /unknown variant/,
  /a maximum of/,
  /at most \d/,
  /(?:not|n't) support/,
  /that support\b/,
  /is not (?:a )?(?:multimodal|vision|vlm)\b/,
  /missing data required/,
  /no pages/,
  /not represent a valid/,
  /password protected/,
  /not meet the (?:model restrictions|requirements)/,
  /add-on is not loaded/,
  /mime type must be/,
  /input should be [`'"\\]*(?:text\b|image\/|application\/)/,
  /\bunknown content\b/,
  /should contain only ascii/,
  /failed to satisfy constraint/,
);
/** A server that accepts only text complains about the list that contains a file; or its template computes with the list as with a text. */
const textOnly: RegExp = phrases(
  /\bvariant of untagged enum \w*Content\b/,
  /\bcontent\b[^{}]{0,40}(?:(?:must|should|to) be a (?:valid )?string)/,
  /\bcontent\b[^{}]{0,40}expected string, received array/,
  /\bcontent\b[^{}]{0,60}expected a string, but got [`'"\\]*\[/,
  /\bvalid string\b[^{}]{0,60}\bcontent\b/,
  /\bdiscriminator value\b[^{}]{0,20}expected [`'"\\]*text\b(?!_)/,
  /\bsingle [`'"\\]*text[`'"\\]* element per message/,
  /\bconcatenate str \(not [`'"\\]*list\b/,
  /\bbetween (?:array|list) and string\b/,
  /\bcontent\.type[^{}]{0,40}\['text'\]/,
  // Alibaba's, and the templates of Qwen's models of text; MLX's server.
  /\bunexpected item type in content\b/,
  /\bonly [`'"\\]*text[`'"\\]* content type is supported\b/,
  /不支持(?:图片|图像|多模态)/,
  /\bonly supports? text (?:inputs?|content|prompts?|messages?)\b/,
  /\buse text-only prompts\b/,
  /\btext[`'"\\]* is not set\b/,
  /\binvalid literal value, expected [`'"\\]*text\b/,
  /\bcontent[`'"\\]*, [`'"\\]*array[`'"\\]* not in [`'"\\]*string\b/,
  /\bcontent[`'"\\]* type\b[^{}]{0,40}\bgot list\b/,
);
/** Bytes of a file that a local server could not read, with whatever status it reports that. */
const unreadable: RegExp = phrases(
  /\billegal base64 data at input byte\b/,
  /\bimage: unknown format\b/,
  /\bfailed to load image or audio file\b/,
  /\bcannot identify image file\b/,
  /\bimage file is truncated\b/,
  /\bbroken (?:png|jpeg) file\b/,
  /\bformat not recogni[sz]ed\b/,
);
/**
 * A URL that could not be fetched, or with unreadable content: phrases of OpenAI, Anthropic, xAI, Alibaba and Z.ai without
 * the word image, or in their own form.
 */
const unreached: RegExp = phrases(
  /\b(?:error|time-?out|failed|unable) (?:while|to) download(?:ing)?\b/,
  /\bdisallowed by the website's robots\.txt\b/,
  /\bwhen downloading image\b/,
  /\bfetching (?:image|audio|video|file) failed\b/,
  /\bdownload multimodal \w+ timed out\b/,
  /\bprovided URL does not appear to be valid\b/,
  /图片[^。{}]{0,12}(?:错误|失败|不支持|无效|过大)/,
);
/** Codes of OpenAI and Anthropic, with whatever words. */
const codes: RegExp = phrases(
  /\binvalid_(?:base64_)?image(?:_\w+)?\b/,
  /\bimage_(?:\w+_)?(?:too_(?:large|small)|not_found)\b/,
  /\bunsupported_image_media_type\b/,
  /\bempty_image_file\b/,
  /\bfailed_to_download_image\b/,
  /\bunsupported_format\b/,
);
/** Sizes and numbers, in words of Alibaba without the name of a part. */
const amounts: RegExp = /\bmax bytes per data-uri\b|\btoo many files\b/i;
/** The sides of an image, in the words of Qwen's models, which do not name it. */
const sides: RegExp = /\bheight:\d+ or width:\d+ must be\b|\babsolute aspect ratio must be\b/i;
/** A gateway that gives up on a body as large as files make it, with a 400; a cause after a colon would be another failure. */
const unread: RegExp = /\b(?:failed|unable) to read (?:the )?request body\b(?!:)/i;
/** What is wrong with a file, in words that say so by themselves. */
const plain: readonly RegExp[] = [
  textOnly,
  unreached,
  codes,
  amounts,
  sides,
  unread,
  lostFileWords,
  unreadable,
];

/** Google's words for anything at all, among others for a file whose bytes are not what it is called. */
export const saysNothing: RegExp = /\brequest contains an invalid argument\b/i;

/** A list of what would have been accepted in that place. */
const listed: RegExp = /any of the expected tags: [^{}]*/i;

/** Whether a server failed because of a file's bytes. */
export const failsFile = (words: string): boolean => unreadable.test(words);

/** Whether a refusal complains about files that could be left out. */
export function refusesFiles(said: string): boolean {
  const words = said.replace(listed, "");
  return isNear(file, refused, words) || plain.some((pattern) => pattern.test(words));
}

/**
 * The kind of file that a refusal complains about, if it names sound or video and nothing else: a model may take the other
 * files of the request.
 */
export function refusedKind(words: string): "audio" | "video" | undefined {
  const audio = /\b(?:input_)?audios?\b/i.test(words);
  if (audio === /\b(?:input_)?videos?(?:_url)?\b/i.test(words) || otherKinds.test(words)) return undefined;
  return audio ? "audio" : "video";
}

const otherKinds: RegExp = /image|pdf|document|\bfiles\b|multimodal|vision/i;
