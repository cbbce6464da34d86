// The room of taking up an open run: that another process left it, under which code it was begun, and what is recorded before
// it goes on.
//
// A run that goes on under other code than it was begun with says what has changed: in its records, and in a warning.

import type { Driver } from "../loop/drive.ts";
import type { CodeChange } from "../loop/records.ts";
import { inFlight, isOpen } from "../loop/state.ts";
import { isLiveGrant } from "../rules/grants.ts";
import { changeText, newsOf } from "./changes.ts";
import { aboutOf, type SessionParts } from "./parts.ts";

export class TakingUp {
  readonly #parts: SessionParts;
  readonly #driver: Driver;
  /** Whether the last run was started here: then the options in the records are this object's. */
  areOptionsRecorded = false;
  #changed: readonly CodeChange[] = [];
  /** The warning about changed code is still to be emitted: when the session was opened, nobody could listen yet. */
  #tellsChanges = false;
  /** Records of other processes were read: an open run, if there is one, is not from here. */
  #isOthers = false;

  constructor(parts: SessionParts, driver: Driver) {
    this.#parts = parts;
    this.#driver = driver;
  }

  /** What has changed in the code since the run began that this process took over. */
  get changed(): readonly CodeChange[] {
    return this.#changed;
  }

  /** Records of other processes were read. */
  othersWrote(): void {
    this.#isOthers = true;
    this.areOptionsRecorded = false;
  }

  /** What has changed since the open run began. @throws RondoError `invalid_request` if this agent does not go on under that */
  news(): ReturnType<typeof newsOf> {
    return newsOf(this.#parts.id, this.#driver.state.options, this.#parts.resolved);
  }

  /** Records that this process takes over what another left open. */
  reopen(): void {
    const news = this.news();
    this.#changed = news.changed ?? [];
    this.#tellsChanges = this.#changed.length > 0;
    this.#driver.post({ type: "opened", by: "session", ...aboutOf(this.#parts), ...news });
    this.#isOthers = false;
  }

  /** Records what has become of an open run before a stretch of work goes on with it. @param isBare nothing else is about to be recorded */
  goOn(isBare: boolean): void {
    const { run } = this.#driver.state;
    if (isOpen(run) && this.#isOthers) this.reopen();
    // What was abandoned when this session was drained is lost, and that is recorded.
    else if (isOpen(run) && inFlight(run))
      this.#driver.post({ type: "opened", by: "session", ...aboutOf(this.#parts) });
    // The state's time is that of the last record: a grant that expired since would still let a call run.
    else if (isOpen(run) && isBare && this.#hasGrantExpired) this.#driver.post({ type: "woke" });
    this.#isOthers = false;
    this.#tellChanges();
  }

  /** Whether a grant has expired since the last record. */
  get #hasGrantExpired(): boolean {
    const { grants, now } = this.#driver.state;
    const today = this.#parts.clock.now();
    return grants.some((grant) => isLiveGrant(grant, now) && !isLiveGrant(grant, today));
  }

  /** Emits the warning about changed code: once, and before anything happens under the new code. */
  #tellChanges(): void {
    if (!this.#tellsChanges) return;
    this.#tellsChanges = false;
    const message = `the run goes on under other code than it was begun with: ${this.#changed.map(changeText).join("; ")}`;
    this.#driver.tell({ type: "warning", code: "changed", message });
  }
}
