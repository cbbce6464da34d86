// The room of orders: clauses that want something changed, judged, or explained about the planner itself.

import type { Rule } from "./grammar-rule.ts";
import { wordSet } from "./lexicon.ts";

/** Greetings, thanks, and questions about what this is. */
export const aboutMe: Rule = (clause) => {
  const { skeleton, places, sheet } = clause;
  if (places.length > 0 || sheet.needle !== undefined) return undefined;
  return /^(hi|hello|hey|help|help me|thank|thanks|thank you|who are you|what are you|what can you (do|help with)|what do you do|how do you work|what model|which model|are you|introduce yourself|what is your|what are your|good (morning|evening|day))\b/.test(
    skeleton,
  ) && !/\b(file|folder|line)\b/.test(skeleton)
    ? [{ do: "about_me" }]
    : undefined;
};

const changing =
  /^(delete|remove|rename|move|copy|fix|refactor|implement|install|run|execute|commit|push|deploy|build|translate|improve|optimi[sz]e|update|generate|draft|design|debug|compile|upgrade|convert|format|rewrite|suggest|recommend|review|code|develop|download|fetch|browse|book|send|email|schedule|remind|order|buy|start|stop|kill|make|create|write|add|append|insert|set|edit|modify|change|replace|save|put|substitute|swap|invent|imagine|play|sing|draw|paint|prove|think)\b/;

/** Orders that only a language model can carry out. */
const writing: ReadonlySet<string> = wordSet(
  "write code implement generate draft design develop create make rewrite refactor fix improve",
  "optimize optimise add",
);

/** Files to write or edit if the clause gives the literal content; any other change is beyond the planner. */
export const change: Rule = (clause) => {
  const { text, skeleton, places } = clause;
  if (!changing.test(skeleton)) return undefined;
  const place = places.at(-1);
  const edit =
    /^(?:replace|change|substitute|swap)\s+(?:all\s+|every\s+|the\s+)*(?:(?:occurrences?\s+of|word|text|string|line)\s+)*(.+?)\s+(?:with|by|to|for|into)\s+(.+?)\s+(?:in|inside|within)\s+(?:the\s+)?(?:file\s+)?\S+$/is.exec(
      text,
    );
  if (edit !== null && place !== undefined)
    return [{ do: "edit", place, find: unquote(edit[1] ?? ""), put: unquote(edit[2] ?? "") }];
  const editIn = /^in\s/i.test(text);
  if (!editIn && place !== undefined && /^(create|make|write|save|put|add)\b/.test(skeleton)) {
    const content = contentOf(text);
    if (content !== undefined) return [{ do: "write", place, content }];
  }
  if (/^(make|create|write|save|put)\b/.test(skeleton) && place !== undefined)
    return [
      {
        do: "beyond",
        why: 'I write files only with text that you give word for word, e.g. `create notes.txt with the text "hello"`; I cannot make up content',
      },
    ];
  const verb = skeleton.split(" ")[0] ?? "";
  const why = writing.has(verb)
    ? `to ${verb} that takes a language model`
    : `“${verb}” is not something I do`;
  return [{ do: "beyond", why }];
};

/** The literal content of "create x with the text y" and "write y to x". */
function contentOf(text: string): string | undefined {
  const after =
    /\b(?:with|containing|that (?:says|contains|reads)|saying|which (?:says|contains))\s+(?:the\s+|this\s+|exactly\s+)*(?:(?:text|contents?|words?|string|line|body)\b\s*)?(?:of\s+)?:?\s*(.+)$/is.exec(
      text,
    );
  if (after !== null) return unquote(after[1] ?? "");
  const before =
    /^(?:write|save|put|add)\s+(?:the\s+)?(?:(?:text|words?|string|line)\s+)?(.+?)\s+(?:to|into|in|as)\s+(?:the\s+|a\s+|new\s+)*(?:file\s+)?(?:called\s+|named\s+)?\S+$/is.exec(
      text,
    );
  const content = before?.[1];
  // "write a poem to x.txt" gives no content, only a wish.
  if (
    content === undefined ||
    (!/^["'`“]/.test(content) && /^(an?|some|the|my|your|all|its?)\b/i.test(content))
  )
    return undefined;
  return unquote(content);
}

const unquote = (text: string): string => {
  const trimmed = text.trim();
  const quoted = /^(["'`“‘])([\s\S]*)(["'`”’])$/.exec(trimmed);
  return quoted === null ? trimmed : (quoted[2] ?? "");
};

/** Words that make it a different question, which no solver here answers: ignoring them would give a false answer. */
export const restriction: Rule = (clause) => {
  const { skeleton } = clause;
  if (
    /\b(not|don't|doesn't|isn't|aren't|except|excluding|without|besides|non|never|but not|other than|apart from)\b.*\b(FILTER|NEEDLE|NAME|QUOTE)\b/.test(
      skeleton,
    ) ||
    /\bneither\b/.test(skeleton)
  )
    return [
      {
        do: "beyond",
        why: "I have no step for leaving some out; ask me for all, and for those to leave out",
      },
    ];
  if (
    /\b(more|fewer|le|less|larger|bigger|longer|smaller|shorter|greater|over|above|at least|at most|exactly)( than)? (NUM|\d\w*)\b/.test(
      skeleton,
    ) &&
    clause.sheet.range === undefined
  )
    return [
      {
        do: "beyond",
        why: "I have no step for a threshold; I can tell the largest and smallest, or the size of one file",
      },
    ];
  if (
    /\b(per|each|every) (folder|directory|file|language|type|extension|package|subfolder|FILTER)\b|\bby (extension|type|language|folder|size)\b|\bgrouped?\b/.test(
      skeleton,
    ) &&
    !/^(find|list|show) every FILTER|^(find|list|show|count) every (file|folder)/.test(skeleton)
  )
    return [{ do: "beyond", why: "I count one folder or one kind of file at a time, not in groups" }];
  return undefined;
};

/** Questions of worth, cause and the outside world: the tools here cannot know. */
export const judgement: Rule = (clause) => {
  const { skeleton, sheet } = clause;
  if (sheet.needle !== undefined) return undefined;
  if (
    /^why\b|\b(should (i|we|you)|do you think|your opinion|opinion|well written|well-written|good idea|code quality|vulnerable|vulnerability|is .* (good|bad|correct|secure|clean|better)\b|any bug|best way|recommend)/.test(
      skeleton,
    )
  )
    return [{ do: "beyond", why: "that asks for judgement, and I only look things up and count" }];
  if (
    /\b(weather|news|internet|web page|website|online|stock price|today|tomorrow|capital of|president|http:\S*|https:\S*|joke|poem|story)\b/.test(
      skeleton,
    ) ||
    /https?:\/\//.test(clause.text)
  )
    return [{ do: "beyond", why: "that needs knowledge of the world or the web, and I have neither" }];
  if (
    /\b(when|date|who wrote|author of|last modified|created|git log|history)\b/.test(skeleton) &&
    /^(when|who|what date)\b/.test(skeleton)
  )
    return [{ do: "beyond", why: "my tools tell names and contents, not dates or history" }];
  if (/\blongest line\b|\baverage\b|\bpercent(age)?\b/.test(skeleton))
    return [{ do: "beyond", why: "I have no step for that measure" }];
  return undefined;
};
