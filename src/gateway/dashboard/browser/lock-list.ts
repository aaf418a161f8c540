import type { LockStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../contracts/format.ts";
import { byId, create, setText } from "./dom.ts";
import { claimName } from "./lock-claims.ts";
import { runLink } from "./run-link.ts";
import { createTime } from "./time-cell.ts";

/** The overview's locks: what is held, by whom, and who waits for it. */
export interface LockList {
  show(claims: readonly LockStatus[]): void;
  tick(now: number): void;
}

interface LockRow {
  readonly element: HTMLElement;
  show(lock: LockStatus, waiting: readonly LockStatus[]): void;
  tick(now: number): void;
}

/** More of them are counted only. */
const shownLocks = 50;
const namedWaiters = 3;

/** Fills the page's section, which is there while anything is held. */
export function createLockList(): LockList {
  const rows = new Map<string, LockRow>();
  const body = byId("lock-rows");
  return {
    show: (claims) => {
      const held = claims.filter((claim) => claim.held);
      const shown = held.slice(0, shownLocks);
      const names = new Set(shown.map(claimName));
      for (const [name, row] of rows) {
        if (names.has(name)) continue;
        row.element.remove();
        rows.delete(name);
      }
      const waiting = Map.groupBy(
        claims.filter((claim) => !claim.held),
        ({ resource }) => resource,
      );
      // From the last on, each new row goes above the one after it.
      let below: HTMLElement | null = null;
      for (const lock of shown.toReversed()) {
        const row = rows.get(claimName(lock)) ?? createLockRow(lock);
        if (!rows.has(claimName(lock))) {
          rows.set(claimName(lock), row);
          if (below === null) body.append(row.element);
          else below.before(row.element);
        }
        row.show(lock, waiting.get(lock.resource) ?? []);
        below = row.element;
      }
      showCount(held.length);
    },
    tick: (now) => {
      for (const row of rows.values()) row.tick(now);
    },
  };
}

function showCount(held: number): void {
  byId("locks").hidden = held === 0;
  byId("lock-count").hidden = held === 0;
  setText(byId("lock-count"), `${counted(held, "lock")} held`);
  byId("locks-more").hidden = held <= shownLocks;
  setText(byId("locks-more"), `and ${counted(held - shownLocks, "more lock")}`);
}

function createLockRow(lock: LockStatus): LockRow {
  const since = createTime("past");
  const expires = createTime("future");
  const waiters = create("span", "muted");
  const element = create("li");
  const holder = create("span");
  holder.append("held by ", runLink(lock.agent, lock.instanceId), " since ", since.element);
  const end = create("span");
  end.append("expires ", expires.element);
  element.append(create("code", "", lock.resource), " ", holder, " ", end, " ", waiters);
  return {
    element,
    show: (now, waiting) => {
      since.show(now.since, "–");
      expires.show(now.expiresAt, "–");
      setText(waiters, waitersText(waiting));
    },
    tick: (now) => {
      since.tick(now);
      expires.tick(now);
    },
  };
}

function waitersText(waiting: readonly LockStatus[]): string {
  if (waiting.length === 0) return "";
  const first = [...waiting].sort((a, b) => (a.since < b.since ? -1 : 1)).slice(0, namedWaiters);
  const more = waiting.length - first.length;
  const names = first.map(({ instanceId }) => instanceId).join(", ");
  return `waited for by ${more === 0 ? names : `${names} and ${more} more`}`;
}
