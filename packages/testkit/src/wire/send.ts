// The room of sending: a plan's bytes on a socket, with all that goes wrong there.
//
// A client that leaves ends it, whatever it waits for. Nothing here knows of protocols.

import type { ServerResponse } from "node:http";
import { afterMs } from "../timer.ts";
import type { Chunks, Place } from "./faults.ts";
import { joined } from "./framing.ts";
import type { Plan, Step } from "./steps.ts";

const pingEveryMs = 10;

/** Sends an answer. Resolves when nothing more will be sent, also when the client has gone. Rejects for headers that are none. */
export async function send(response: ServerResponse, plan: Plan, chunks: Chunks): Promise<void> {
  await new Sender(response, plan, plan.chunks ?? chunks).run();
}

class Sender {
  readonly #response: ServerResponse;
  readonly #plan: Plan;
  readonly #chunks: Chunks;
  readonly #gone: Promise<void>;
  #left = false;
  #bytes = 0;
  #frames = 0;
  /** With chunks `whole`: what waits to be written in one piece. */
  #held: Uint8Array[] = [];

  constructor(response: ServerResponse, plan: Plan, chunks: Chunks) {
    this.#response = response;
    this.#plan = plan;
    this.#chunks = chunks;
    const gone = Promise.withResolvers<void>();
    this.#gone = gone.promise;
    response.once("close", () => {
      this.#left = true;
      gone.resolve();
    });
    // Writing to a client that has gone is no error of ours.
    response.on("error", () => {});
  }

  async run(): Promise<void> {
    const plan = this.#plan;
    if (plan.delayMs > 0) await this.#sleep(plan.delayMs);
    if (this.#left) return;
    if (plan.reset) {
      this.#response.socket?.resetAndDestroy();
      return;
    }
    this.#response.socket?.setNoDelay(true);
    this.#response.writeHead(plan.status, this.#headers());
    this.#response.flushHeaders();
    for (const step of plan.steps) {
      if (this.#left || !(await this.#step(step))) return;
    }
    await this.#flush();
    this.#response.end();
  }

  #headers(): Record<string, string> {
    const { headers, steps, streams, cut, stall } = this.#plan;
    const breaks = steps.some((step) => step.do === "break");
    // Pings would fill up what is told of its length.
    if (streams || breaks || cut?.how === "end" || stall?.pings) return headers;
    const length = steps.reduce((sum, step) => sum + (step.do === "bytes" ? step.bytes.length : 0), 0);
    return { ...headers, "content-length": String(length) };
  }

  /** False when nothing may follow. */
  async #step(step: Step): Promise<boolean> {
    switch (step.do) {
      case "bytes":
        return await this.#put(step.bytes);
      case "wait":
        await this.#flush();
        step.gate.arrive();
        await (step.deaf ? step.gate.released : Promise.race([step.gate.released, this.#gone]));
        return true;
      case "tick":
        await this.#flush();
        await new Promise((resolve) => setImmediate(resolve));
        return true;
      case "break":
        await this.#break(step.how);
        return false;
      case "stall":
        await this.#stall(false);
        return false;
    }
  }

  async #put(bytes: Uint8Array): Promise<boolean> {
    const { cut, stall } = this.#plan;
    const end = cut ?? stall;
    if (end === undefined) {
      this.#frames += 1;
      await this.#write(bytes);
      return true;
    }
    const room = this.#room(end.at);
    if (room > 0) await this.#write(room >= bytes.length ? bytes : bytes.subarray(0, room));
    this.#frames += 1;
    if (this.#room(end.at) > 0) return true;
    if (cut !== undefined) await this.#break(cut.how);
    else await this.#stall(stall?.pings ?? false);
    return false;
  }

  /** Bytes that may still go before the place. */
  #room(place: Place): number {
    if (typeof place === "number") return place - this.#bytes;
    return place.frames > this.#frames ? Number.POSITIVE_INFINITY : 0;
  }

  async #write(bytes: Uint8Array): Promise<void> {
    this.#bytes += bytes.length;
    if (this.#chunks === "whole") {
      this.#held.push(bytes);
      return;
    }
    await this.#out(bytes);
  }

  async #flush(): Promise<void> {
    if (this.#held.length === 0) return;
    const bytes = joined(this.#held);
    this.#held = [];
    await this.#out(bytes);
  }

  async #out(bytes: Uint8Array): Promise<void> {
    const { slow } = this.#plan;
    const size = slow?.bytes ?? (this.#chunks === "byte" ? 1 : bytes.length);
    for (let at = 0; at < bytes.length && !this.#left; at += size) {
      const more = this.#response.write(bytes.subarray(at, at + size));
      if (!more) await this.#drained();
      if (slow !== undefined)
        await (slow.ms > 0 ? this.#sleep(slow.ms) : new Promise((resolve) => setImmediate(resolve)));
    }
  }

  async #drained(): Promise<void> {
    const drained = new Promise<void>((resolve) => this.#response.once("drain", resolve));
    await Promise.race([drained, this.#gone]);
  }

  async #break(how: "end" | "close" | "reset"): Promise<void> {
    await this.#flush();
    if (how === "end") {
      this.#response.end();
      return;
    }
    // What was written is to arrive: the connection ends behind it, not instead of it.
    const { socket } = this.#response;
    const flushed = new Promise<void>((resolve) => {
      if (socket === null || socket.destroyed) resolve();
      else socket.write("", () => resolve());
    });
    await Promise.race([flushed, this.#gone]);
    if (how === "reset") socket?.resetAndDestroy();
    else socket?.destroy();
  }

  async #stall(pings: boolean): Promise<void> {
    await this.#flush();
    const ping = (): unknown => this.#response.write(this.#plan.ping);
    const timer = pings ? setInterval(ping, pingEveryMs) : undefined;
    await this.#gone;
    clearInterval(timer);
  }

  async #sleep(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const slept = new Promise<void>((resolve) => {
      timer = afterMs(ms, resolve);
    });
    await Promise.race([slept, this.#gone]);
    clearTimeout(timer);
  }
}
