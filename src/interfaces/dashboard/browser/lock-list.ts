import type { LockStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { byId, create, setText } from "./dom.ts";
import { lockKey } from "./lock-statuses.ts";
import { runLink } from "./run-parts.ts";
import { createTime } from "./time-cell.ts";
import { createViews } from "./views.ts";
import type { View, Views } from "./views.ts";

/** A lock that a run holds, and the runs that wait for it. */
interface HeldLock extends LockStatus {
  readonly waiting: readonly LockStatus[];
}

/** More of them are counted only. */
const shownLocks = 50;
const namedWaiters = 3;

/** Fills the overview's locks, whose section is there while anything is held. */
export function createLockList(): Pick<Views<LockStatus>, "show" | "tick"> {
  const views = createViews<HeldLock>(byId("lock-rows"), lockKey, createLockRow);
  return {
    show: (statuses) => {
      const held = statuses.filter((status) => status.held);
      const waiting = Map.groupBy(
        statuses.filter((status) => !status.held),
        ({ resource }) => resource,
      );
      views.show(
        held
          .slice(0, shownLocks)
          .map((lock) => ({ ...lock, waiting: waiting.get(lock.resource) ?? [] })),
      );
      byId("locks").hidden = held.length === 0;
      byId("lock-count").hidden = held.length === 0;
      setText(byId("lock-count"), `${counted(held.length, "lock")} held`);
      byId("locks-more").hidden = held.length <= shownLocks;
      setText(byId("locks-more"), `and ${counted(held.length - shownLocks, "more lock")}`);
    },
    tick: views.tick,
  };
}

function createLockRow(lock: HeldLock): View<HeldLock> {
  const since = createTime("past");
  const expires = createTime("future");
  const waiters = create("span", "muted");
  const run = runLink(lock.agent, lock.instanceId);
  const holder = create("span", "", "held by ", run, " since ", since.element);
  const end = create("span", "", "expires ", expires.element);
  const resource = create("code", "", lock.resource);
  const element = create("li", "", resource, " ", holder, " ", end, " ", waiters);
  return {
    elements: () => [element],
    show: (now) => {
      since.show(now.since, "–");
      expires.show(now.expiresAt, "–");
      setText(waiters, waitersText(now.waiting));
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
