// The room of blobs in files: a folder per session, a text file per text.
//
// A file appears completely or not at all (`file-parts.ts`). It is named by the digest of its content, so two processes
// that store the same text do no harm to each other.

import { createHash } from "node:crypto";
import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type BlobLimits,
  type BlobPut,
  type BlobStore,
  blobInfo,
  blobLimits,
  blobRef,
  messageOf,
  RondoError,
  refTaken,
  refusesBlob,
  safeRef,
} from "@rondo/core";
import { heldIn, writeBeside } from "./file-parts.ts";
import { placeOf } from "./location.ts";
import { makeFolder } from "./make-folder.ts";
import { isMissing } from "./system-says.ts";

/** The name of a session's folder. It is a digest: ids may be long, differ only in case, or be invalid as file names. */
export const homeOf = (session: string): string =>
  createHash("sha256").update(session).digest("hex").slice(0, 32);

export const textSuffix = ".txt";

/** Where a JSONL journal keeps texts, inside its own folder. It cannot clash with a session's file: those have a suffix. */
export const textsFolder = "texts";

/** Texts in files under one folder. All its methods are asynchronous. */
export interface FileBlobs extends BlobStore {
  put(...of: Parameters<BlobStore["put"]>): Promise<BlobPut>;
  get(session: string, ref: string): Promise<string | undefined>;
  delete(session: string): Promise<void>;
}

/**
 * Keeps texts as `<folder>/<session's digest>/<ref>.txt`. The folder is created on first use. Several processes may
 * use one folder; texts that they store at the same moment may together exceed the session's limit.
 * @param folder a path or a `file:` URL
 * @throws RondoError `invalid_request` when it is neither, or a limit is not a valid number
 */
export function fileBlobs(folder: string | URL, limits?: BlobLimits): FileBlobs {
  return textsIn(placeOf(folder, "a store of texts", "folder"), limits);
}

/** The same in a folder whose path is resolved. @param checkUsable throws when the store may no longer be used */
export function textsIn(root: string, limits?: BlobLimits, checkUsable: () => void = () => {}): FileBlobs {
  const bounds = blobLimits(limits);
  const home = (session: string): string => join(root, homeOf(session));
  const file = (session: string, ref: string): string => join(home(session), `${safeRef(ref)}${textSuffix}`);
  const perform = async <T>(doing: string, act: () => Promise<T>): Promise<T> => {
    try {
      checkUsable();
      return await act();
    } catch (thrown) {
      if (thrown instanceof RondoError) throw thrown;
      // System errors have a code; anything else is unexpected.
      const kind =
        typeof (thrown as NodeJS.ErrnoException | undefined)?.code === "string" ? "storage" : "internal";
      throw new RondoError(kind, `cannot ${doing} ${root}: ${messageOf(thrown)}`, { cause: thrown });
    }
  };
  return {
    put: (session, given) =>
      perform("keep a text in", async (): Promise<BlobPut> => {
        const text = given.toWellFormed();
        const bytes = Buffer.from(text, "utf8");
        const info = blobInfo(text, bytes.length);
        const place = file(session, info.ref);
        const known = await whole(place);
        if (known !== undefined)
          return known === text ? { ok: true, ...info } : { ok: false, reason: refTaken(info.ref) };
        const reason = refusesBlob(bytes.length, await heldIn(home(session)), bounds);
        if (reason !== undefined) return { ok: false, reason };
        makeFolder(home(session), 0o700);
        await writeBeside(place, bytes);
        await sync(home(session));
        return { ok: true, ...info };
      }),
    get: (session, ref) =>
      perform("read a text in", async () => {
        const text = await whole(file(session, ref));
        if (text !== undefined && blobRef(text) !== safeRef(ref))
          throw new RondoError("storage", `the text ${file(session, ref)} is damaged; restore a copy of it`);
        return text;
      }),
    delete: (session) =>
      perform("delete texts in", () => rm(home(session), { recursive: true, force: true })),
  };
}

async function whole(place: string): Promise<string | undefined> {
  try {
    return await readFile(place, "utf8");
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

/** Makes a rename durable. Some systems cannot open folders; those do not need it. */
async function sync(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
