// The room of places: which item of a response an event is about.
//
// Everything is kept by output index; if a gateway gives several items the same index, they are distinguished by an item
// having ended, or by another call's id (F068, F079). Without an index the ids count, and then the order.

import type { JsonObject } from "@rondo/core";
import { countIn, objectIn, textIn } from "../../json-values.ts";
import { type Item, isAnother, newItem } from "./item.ts";

export class ItemPlaces {
  /** The items by their places. */
  readonly items: Map<number, Item> = new Map();
  /** The first place that no item has had. */
  free: number = 0;
  /** Places of items by output index: one each, unless an index was reused for another item. */
  readonly #places = new Map<number, number[]>();
  /** The first item that had each id. */
  readonly #byId = new Map<string, number>();
  /** Places of items that came without an output index: if one is given later, it is theirs. */
  readonly #unplaced = new Set<number>();
  #last = -1;

  /** The item at a place, which is opened with this type if there is none. */
  item(place: number, type: string): Item {
    let item = this.items.get(place);
    if (item === undefined) {
      item = newItem(place, type);
      this.items.set(place, item);
      this.free = Math.max(this.free, place + 1);
    }
    return item;
  }

  /** The item at a place had this id. */
  seen(place: number, item: Item, id: string): void {
    item.ids.add(id);
    if (!this.#byId.has(id)) this.#byId.set(id, place);
  }

  /** The place of an event's item: by output index, else by an id it had, else the last one. @param isNew it begins an item */
  of(event: JsonObject, isNew: boolean): number {
    const index = countIn(event.output_index);
    const given = objectIn(event.item);
    const id = textIn(event.item_id) ?? textIn(given?.id);
    if (index !== undefined) {
      const places = this.#places.get(index) ?? [];
      const place = this.#among(places, id, given, isNew) ?? this.#unplacedBy(id) ?? this.unused(index);
      this.#unplaced.delete(place);
      if (places.length === 0) this.#places.set(index, places);
      if (!places.includes(place)) places.push(place);
      this.#last = place;
      return place;
    }
    const known = id === undefined ? undefined : this.#byId.get(id);
    if (known !== undefined) return known;
    const isOver = this.#last === -1 || this.items.get(this.#last)?.done === true;
    if (isOver || (given !== undefined && !this.#isNameless(given))) {
      this.#last = this.free;
      this.#unplaced.add(this.#last);
    }
    return this.#last;
  }

  /** The place of an index; a free one if it is taken. */
  unused(index: number): number {
    return this.items.has(index) ? this.free : index;
  }

  #unplacedBy(id: string | undefined): number | undefined {
    const place = id === undefined ? undefined : this.#byId.get(id);
    return place !== undefined && this.#unplaced.has(place) ? place : undefined;
  }

  /** Whether the last item began with a delta without an index or an id, and may be this one. */
  #isNameless(given: JsonObject): boolean {
    const item = this.items.get(this.#last);
    return item !== undefined && item.type === given.type && item.ids.size === 0 && !item.added && !item.done;
  }

  /** The place meant among those under one output index; undefined for a new item (F068). */
  #among(
    places: readonly number[],
    id: string | undefined,
    given: JsonObject | undefined,
    isNew: boolean,
  ): number | undefined {
    const last = places.at(-1);
    if (last === undefined) return undefined;
    const item = this.items.get(last);
    if (item === undefined) return last;
    const callId = textIn(given?.call_id) || undefined;
    const known = places.findLast((place) => {
      const at = this.items.get(place);
      if (callId !== undefined && at?.callId === callId) return true;
      // OpenAI itself changes a call's id between the start and the end of its item; some servers give all items one id.
      const isOver = at?.done === true && callId !== undefined && at.callId !== undefined;
      return id !== undefined && at?.ids.has(id) === true && !isOver;
    });
    if (known !== undefined) return known;
    return isAnother(item, id, given, isNew) ? undefined : last;
  }
}
