import { render } from "preact";
import type { LockClaim } from "../../../../streams/status/wire.ts";
import { byId, showText } from "./dom.ts";
import { lockKey } from "./lock-statuses.ts";
import { RunLink } from "./run-parts.tsx";
import { Time } from "./time.tsx";

const maxShown = 20;

/** Shows what an agent's runs hold and wait for; `statuses` are those of the whole project. */
export function showAgentLocks(agent: string, statuses: readonly LockClaim[]): void {
  const own = statuses.filter((status) => status.agent === agent);
  const holders = new Map(statuses.filter(({ held }) => held).map((one) => [one.resource, one]));
  const items = own
    .slice(0, maxShown)
    .map((status) => (
      <li key={lockKey(status)}>
        {status.held ? heldLock(status) : waitingLock(status, holders.get(status.resource))}
      </li>
    ));
  render(items, byId("lock-list"));
  showText("locks-note", noteText(own.length));
}

function noteText(count: number): string {
  if (count === 0) return "Its runs hold nothing.";
  return count > maxShown ? `and ${count - maxShown} more` : "";
}

function heldLock(lock: LockClaim) {
  return (
    <>
      <span class="pill running">holds</span> <code>{lock.resource}</code>
      <div class="sub">
        <RunLink {...lock} /> holds it since <Time side="past" at={lock.since} />, until at most{" "}
        <Time side="future" at={lock.expiresAt} />
      </div>
    </>
  );
}

function waitingLock(lock: LockClaim, holder: LockClaim | undefined) {
  return (
    <>
      <span class="pill held">waits for</span> <code>{lock.resource}</code>
      <div class="sub">
        <RunLink {...lock} /> waits since <Time side="past" at={lock.since} />
        {holder !== undefined && [" for ", <RunLink {...holder} />]}
      </div>
    </>
  );
}
