// The room of the settings that a model has refused. The loop asks again without one, but in every run anew; what helped once
// is kept here, and later calls leave the setting out before they are refused.
//
// A setting may be refused only beside others (a temperature beside reasoning), or only for its value: one is left out only
// of requests with the same settings, and only once an answer has come without it.

import {
  type AssistantMessage,
  type ModelIo,
  type ModelRequest,
  type RefusableSetting,
  RondoError,
  type Settings,
} from "@rondo/core";

type Ask = (request: ModelRequest) => Promise<AssistantMessage>;

interface Refused {
  /** What was asked for when it was refused. */
  asked: string;
  /** An answer came without it. */
  sure: boolean;
}

export class RefusedSettings {
  readonly #refused = new Map<RefusableSetting, Refused>();

  /** Calls the model without what it is known to refuse, and learns from what comes of it. */
  async call(given: ModelRequest, io: ModelIo, ask: Ask): Promise<AssistantMessage> {
    const request = this.#without(given, io);
    try {
      const answer = await ask(request);
      this.#answered(request);
      return answer;
    } catch (thrown) {
      this.#failed(request, thrown);
      throw thrown;
    }
  }

  /** Warns of each setting that it leaves out. */
  #without(given: ModelRequest, { emit }: ModelIo): ModelRequest {
    let request = given;
    for (const [setting, { asked, sure }] of this.#refused) {
      if (!sure || asked !== askedIn(request)) continue;
      request = { ...request, settings: settingsWithout(setting, request.settings) };
      const message = `settings.${setting} was refused by this model before, and was left out`;
      emit({ type: "warning", code: "unsupported_setting", message });
    }
    return request;
  }

  #failed(request: ModelRequest, thrown: unknown): void {
    const repair = thrown instanceof RondoError ? thrown.repair : undefined;
    if (repair === undefined || !repair.startsWith("settings.")) return;
    const setting = repair.slice("settings.".length) as RefusableSetting;
    // How long an answer may be depends on how long the prompt is.
    if (setting === "maxOutputTokens" || request.settings[setting] === undefined) return;
    // Behind those that were refused before it, as they are left out one after the other.
    this.#refused.delete(setting);
    this.#refused.set(setting, { asked: askedIn(request), sure: false });
  }

  #answered({ settings }: ModelRequest): void {
    for (const [setting, refused] of this.#refused) if (settings[setting] === undefined) refused.sure = true;
  }
}

function settingsWithout(setting: RefusableSetting, settings: Settings): Settings {
  const { [setting]: _, ...rest } = settings;
  return rest;
}

/** What a refusal may depend on besides the setting's own value. */
function askedIn({ settings, tools, toolChoice, outputSchema }: ModelRequest): string {
  const { maxOutputTokens: _, headers: _headers, ...rest } = settings;
  return JSON.stringify([rest, tools.length > 0, toolChoice, outputSchema !== undefined]);
}
