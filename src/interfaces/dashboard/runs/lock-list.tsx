import type { LockStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { lockKey } from "../live/apply-update.ts";
import { memo } from "../kit/memo.ts";
import { Items, Panel } from "../kit/panel.tsx";
import { RunLink } from "./run-parts.tsx";
import { ListTime, Time } from "../kit/time.tsx";

const shownLocks = 50;
const namedWaiters = 3;

/** The panel with the locks that runs hold; hidden without any. As the last panel it moves no other. */
export function LockList({ locks }: { readonly locks: readonly LockStatus[] }) {
  const held = locks.filter((lock) => lock.held);
  const waiting = Map.groupBy(
    locks.filter((lock) => !lock.held),
    ({ resource }) => resource,
  );
  const more = held.length - shownLocks;
  return (
    <Panel id="locks" title="Locks" class="locks" hidden={held.length === 0}>
      <Items
        id="locks"
        items={held}
        most={shownLocks}
        note={more > 0 ? `and ${counted(more, "more lock")}` : ""}
      >
        {(lock) => (
          <Lock lock={lock} waiting={waiting.get(lock.resource) ?? []} key={lockKey(lock)} />
        )}
      </Items>
    </Panel>
  );
}

interface LockProps {
  readonly lock: LockStatus;
  readonly waiting: readonly LockStatus[];
}

const Lock = memo(({ lock, waiting }: LockProps) => (
  <li>
    <code>{lock.resource}</code>{" "}
    <span>
      held by <RunLink {...lock} /> since <ListTime at={lock.since} />
    </span>{" "}
    <span>
      expires <Time at={lock.expiresAt} side="future" />
    </span>{" "}
    <span class="muted">{waitersText(waiting)}</span>
  </li>
));

function waitersText(waiting: readonly LockStatus[]): string {
  if (waiting.length === 0) return "";
  const first = [...waiting].sort((a, b) => (a.since < b.since ? -1 : 1)).slice(0, namedWaiters);
  const more = waiting.length - first.length;
  const names = first.map(({ instanceId }) => instanceId).join(", ");
  return `waited for by ${more === 0 ? names : `${names} and ${more} more`}`;
}
