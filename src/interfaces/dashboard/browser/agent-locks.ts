import type { LockStatus } from "../../../../streams/status/wire.ts";
import { byId, create, showText } from "./dom.ts";
import { runLink } from "./run-parts.ts";
import { createTime } from "./time-cell.ts";
import { createViews } from "./views.ts";
import type { View, Views } from "./views.ts";

/** A lock that a run holds, or waits for, and then its holder. */
interface OwnLock {
  readonly lock: LockStatus;
  readonly holder: LockStatus | undefined;
}

const maxShown = 20;

/** Fills the page's panel with the locks that an agent's runs hold and wait for; it is given all of the project. */
export function createAgentLocks(agent: string): Views<LockStatus> {
  const list = byId("lock-list");
  // One that changes becomes another: only those that don't keep focus and selection.
  const keyOf = ({ lock, holder }: OwnLock) => JSON.stringify([lock, holder?.instanceId]);
  const views = createViews<OwnLock>(list, keyOf, createItem);
  return {
    show: (statuses) => {
      const own = statuses.filter((status) => status.agent === agent);
      const holders = new Map(
        statuses.filter(({ held }) => held).map((one) => [one.resource, one]),
      );
      views.show(
        own
          .slice(0, maxShown)
          .map((lock) => ({ lock, holder: lock.held ? undefined : holders.get(lock.resource) })),
      );
      showText("locks-note", noteText(own.length));
    },
    tick: views.tick,
  };
}

function noteText(count: number): string {
  if (count === 0) return "No locks held.";
  return count > maxShown ? `and ${count - maxShown} more` : "";
}

function createItem({ lock, holder }: OwnLock): View<OwnLock> {
  const { resource, agent, instanceId, held } = lock;
  const since = createTime("past");
  since.show(lock.since, "–");
  const expires = createTime("future");
  expires.show(lock.expiresAt, "–");
  const words = held ? " holds it since " : " waits since ";
  const line = create("div", "sub", runLink(agent, instanceId), words, since.element);
  if (held) line.append(", until at most ", expires.element);
  if (holder !== undefined) line.append(" for ", runLink(holder.agent, holder.instanceId));
  const state = create("span", held ? "pill running" : "pill held", held ? "holds" : "waits for");
  const element = create("li", "", state, " ", create("code", "", resource), line);
  return {
    elements: () => [element],
    show: () => undefined,
    tick: (now) => {
      since.tick(now);
      expires.tick(now);
    },
  };
}
