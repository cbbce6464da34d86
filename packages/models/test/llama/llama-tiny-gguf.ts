// A tiny GGUF file for the test of the real library: llama architecture, two layers of 64, random weights, 520 kB.
//
// The format is GGUF v3, little-endian, tensors in F32. The tokenizer is SPM with a token for each printable character and
// each byte. Dimension 0 of the residual stream holds a constant that no layer writes to, so that `output.weight[:, 0]` is a
// bias of each token: quotes, braces and letters are favoured, or a random model would seldom end a string.

import { writeFile } from "node:fs/promises";

const width = 64;
const feedForward = 128;
const layers = 2;
const heads = 4;
const context = 4096;
const alignment = 32;

const template =
  "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

type Value =
  | { type: "u32"; value: number }
  | { type: "f32"; value: number }
  | { type: "bool"; value: boolean }
  | { type: "string"; value: string }
  | { type: "strings"; value: readonly string[] }
  | { type: "f32s"; value: readonly number[] }
  | { type: "i32s"; value: readonly number[] };

interface Token {
  text: string;
  score: number;
  /** 1 normal, 2 unknown, 3 control, 6 byte. */
  kind: 1 | 2 | 3 | 6;
}

function vocabulary(): Token[] {
  const control = (text: string): Token => ({ text, score: 0, kind: 3 });
  const bytes = Array.from({ length: 256 }, (_, byte): Token => {
    return { text: `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`, score: 0, kind: 6 };
  });
  const characters = Array.from({ length: 95 }, (_, at): Token => {
    const text = String.fromCharCode(0x20 + at);
    return { text: text === " " ? "\u2581" : text, score: -at - 1, kind: 1 };
  });
  return [
    { text: "<unk>", score: 0, kind: 2 },
    control("<s>"),
    control("</s>"),
    ...bytes,
    ...characters,
    control("<|im_start|>"),
    control("<|im_end|>"),
  ];
}

/** How much a token is favoured. A quote ends a string in about one of six characters. */
function bias({ text, kind }: Token): number {
  if (kind !== 1) return text === "<|im_end|>" ? 0 : -1.5;
  if (text === '"') return 0.45;
  if ("{}[]:,".includes(text)) return 0.3;
  return /[a-z0-9\u2581]/.test(text) ? 0.15 : -0.6;
}

/** Numbers that are the same in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

interface Tensor {
  name: string;
  /** Fastest first. */
  shape: readonly number[];
  data: Float32Array;
}

function tensors(tokens: readonly Token[]): Tensor[] {
  const next = generator(7);
  const matrix = (name: string, inside: number, outside: number, scale: number): Tensor => ({
    name,
    shape: [inside, outside],
    data: Float32Array.from({ length: inside * outside }, () => next() * scale),
  });
  const ones = (name: string): Tensor => ({ name, shape: [width], data: new Float32Array(width).fill(1) });
  /** Leaves dimension 0 of what it writes alone. */
  const quiet = (tensor: Tensor): Tensor => {
    tensor.data.fill(0, 0, tensor.shape[0]);
    return tensor;
  };
  const embedding = matrix("token_embd.weight", width, tokens.length, 1);
  const output = matrix("output.weight", width, tokens.length, 0.15);
  for (const [at, token] of tokens.entries()) {
    embedding.data[at * width] = 4;
    output.data[at * width] = bias(token);
  }
  const blocks = Array.from({ length: layers }, (_, layer) => {
    const name = (part: string): string => `blk.${layer}.${part}.weight`;
    return [
      ones(name("attn_norm")),
      matrix(name("attn_q"), width, width, 0.2),
      matrix(name("attn_k"), width, width, 0.2),
      matrix(name("attn_v"), width, width, 0.2),
      quiet(matrix(name("attn_output"), width, width, 0.2)),
      ones(name("ffn_norm")),
      matrix(name("ffn_gate"), width, feedForward, 0.2),
      matrix(name("ffn_up"), width, feedForward, 0.2),
      quiet(matrix(name("ffn_down"), feedForward, width, 0.2)),
    ];
  });
  return [embedding, ...blocks.flat(), ones("output_norm.weight"), output];
}

class Writer {
  readonly #pieces: Buffer[] = [];
  length = 0;

  bytes(piece: Buffer): void {
    this.#pieces.push(piece);
    this.length += piece.length;
  }

  u32(value: number): void {
    const piece = Buffer.alloc(4);
    piece.writeUInt32LE(value);
    this.bytes(piece);
  }

  u64(value: number): void {
    const piece = Buffer.alloc(8);
    piece.writeBigUInt64LE(BigInt(value));
    this.bytes(piece);
  }

  f32(value: number): void {
    const piece = Buffer.alloc(4);
    piece.writeFloatLE(value);
    this.bytes(piece);
  }

  string(value: string): void {
    const text = Buffer.from(value);
    this.u64(text.length);
    this.bytes(text);
  }

  pad(): void {
    this.bytes(Buffer.alloc((alignment - (this.length % alignment)) % alignment));
  }

  value(value: Value): void {
    switch (value.type) {
      case "u32":
        this.u32(4);
        this.u32(value.value);
        break;
      case "f32":
        this.u32(6);
        this.f32(value.value);
        break;
      case "bool":
        this.u32(7);
        this.bytes(Buffer.from([value.value ? 1 : 0]));
        break;
      case "string":
        this.u32(8);
        this.string(value.value);
        break;
      case "strings":
        this.list(8, value.value.length);
        for (const one of value.value) this.string(one);
        break;
      case "f32s":
        this.list(6, value.value.length);
        for (const one of value.value) this.f32(one);
        break;
      case "i32s":
        this.list(5, value.value.length);
        for (const one of value.value) this.u32(one);
        break;
    }
  }

  list(kind: number, length: number): void {
    this.u32(9);
    this.u32(kind);
    this.u64(length);
  }

  whole(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** Writes the file. It is the same, byte for byte, every time. */
export async function writeTinyModel(path: string): Promise<void> {
  const tokens = vocabulary();
  const all = tensors(tokens);
  const metadata: { [key: string]: Value } = {
    "general.architecture": { type: "string", value: "llama" },
    "general.name": { type: "string", value: "tiny" },
    "general.file_type": { type: "u32", value: 0 },
    "general.alignment": { type: "u32", value: alignment },
    "llama.block_count": { type: "u32", value: layers },
    "llama.context_length": { type: "u32", value: context },
    "llama.embedding_length": { type: "u32", value: width },
    "llama.feed_forward_length": { type: "u32", value: feedForward },
    "llama.attention.head_count": { type: "u32", value: heads },
    "llama.attention.head_count_kv": { type: "u32", value: heads },
    "llama.attention.layer_norm_rms_epsilon": { type: "f32", value: 1e-5 },
    "llama.rope.dimension_count": { type: "u32", value: width / heads },
    "llama.vocab_size": { type: "u32", value: tokens.length },
    "tokenizer.ggml.model": { type: "string", value: "llama" },
    "tokenizer.ggml.tokens": { type: "strings", value: tokens.map(({ text }) => text) },
    "tokenizer.ggml.scores": { type: "f32s", value: tokens.map(({ score }) => score) },
    "tokenizer.ggml.token_type": { type: "i32s", value: tokens.map(({ kind }) => kind) },
    "tokenizer.ggml.unknown_token_id": { type: "u32", value: 0 },
    "tokenizer.ggml.bos_token_id": { type: "u32", value: 1 },
    "tokenizer.ggml.eos_token_id": { type: "u32", value: tokens.length - 1 },
    "tokenizer.ggml.add_bos_token": { type: "bool", value: false },
    "tokenizer.ggml.add_space_prefix": { type: "bool", value: false },
    "tokenizer.chat_template": { type: "string", value: template },
  };
  const file = new Writer();
  file.bytes(Buffer.from("GGUF"));
  file.u32(3);
  file.u64(all.length);
  file.u64(Object.keys(metadata).length);
  for (const [key, value] of Object.entries(metadata)) {
    file.string(key);
    file.value(value);
  }
  let offset = 0;
  for (const { name, shape, data } of all) {
    file.string(name);
    file.u32(shape.length);
    for (const size of shape) file.u64(size);
    file.u32(0);
    file.u64(offset);
    offset += Math.ceil(data.byteLength / alignment) * alignment;
  }
  for (const { data } of all) {
    file.pad();
    file.bytes(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  }
  await writeFile(path, file.whole());
}
