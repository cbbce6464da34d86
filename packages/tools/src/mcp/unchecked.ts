// The room of what a client would refuse: a server's answer as it came, although the client checks it.
//
// The clients of the SDK check answers by the letter of the protocol, and by schemas that the server wrote. For one tool with a
// dangling reference they throw away the whole list. Of a call they throw away the answer, after the call had its effect: the
// model would read an error, and make the call again. Here is what reads any answer, so it needs no such check.

/** A schema that takes anything. The SDK's first clients parse by `safeParse`, the second ones by Standard Schema. */
const schemaThat = (hears: (answer: unknown) => void): object => {
  const heard = (answer: unknown): unknown => {
    hears(answer);
    return answer;
  };
  return {
    safeParse: (data: unknown) => ({ success: true, data: heard(data) }),
    "~standard": { version: 1, vendor: "rondo", validate: (value: unknown) => ({ value: heard(value) }) },
  };
};

export const takingAnything: object = schemaThat(() => {});

/** Makes a request with a schema that takes anything. What was answered counts, whatever else the client finds wrong with it. */
export async function hearing(request: (resultSchema: object) => Promise<unknown>): Promise<unknown> {
  let heard: { answer: unknown } | undefined;
  const resultSchema = schemaThat((answer) => {
    heard = { answer };
  });
  try {
    return await request(resultSchema);
  } catch (thrown) {
    if (heard === undefined) throw thrown;
    return heard.answer;
  }
}

/**
 * Whether an error may mean that the client refused an answer. The first clients throw their checker's error, which has no code; the
 * second ones have a word for it. An error of the server, of the network or of the protocol has a code of its own.
 */
export function mayHaveRefused(thrown: unknown): boolean {
  const { code } = Object(thrown) as { code?: unknown };
  return code === undefined || code === "INVALID_RESULT";
}
