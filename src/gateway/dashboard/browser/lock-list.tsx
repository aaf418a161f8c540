import { render } from "preact";
import type { LockClaim } from "../../../../streams/status/wire.ts";
import { counted } from "../../../contracts/format.ts";
import { byId, setText } from "./dom.ts";
import { lockKey } from "./lock-statuses.ts";
import { RunLink } from "./run-parts.tsx";
import { Time } from "./time.tsx";

/** More of them are counted only. */
const shownLocks = 50;
const namedWaiters = 3;

/** Shows the overview's locks: what is held, by which run, and which runs wait for it. */
export function showLocks(statuses: readonly LockClaim[]): void {
  const held = statuses.filter((status) => status.held);
  const waiting = Map.groupBy(
    statuses.filter((status) => !status.held),
    ({ resource }) => resource,
  );
  const rows = held
    .slice(0, shownLocks)
    .map((lock) => lockRow(lock, waiting.get(lock.resource) ?? []));
  render(rows, byId("lock-rows"));
  byId("locks").hidden = held.length === 0;
  byId("lock-count").hidden = held.length === 0;
  setText(byId("lock-count"), `${counted(held.length, "lock")} held`);
  byId("locks-more").hidden = held.length <= shownLocks;
  setText(byId("locks-more"), `and ${counted(held.length - shownLocks, "more lock")}`);
}

function lockRow(lock: LockClaim, waiting: readonly LockClaim[]) {
  return (
    <li key={lockKey(lock)}>
      <code>{lock.resource}</code>{" "}
      <span>
        held by <RunLink {...lock} /> since <Time side="past" at={lock.since} />
      </span>{" "}
      <span>
        expires <Time side="future" at={lock.expiresAt} />
      </span>{" "}
      <span class="muted">{waitersText(waiting)}</span>
    </li>
  );
}

function waitersText(waiting: readonly LockClaim[]): string {
  if (waiting.length === 0) return "";
  const first = [...waiting].sort((a, b) => (a.since < b.since ? -1 : 1)).slice(0, namedWaiters);
  const more = waiting.length - first.length;
  const names = first.map(({ instanceId }) => instanceId).join(", ");
  return `waited for by ${more === 0 ? names : `${names} and ${more} more`}`;
}
