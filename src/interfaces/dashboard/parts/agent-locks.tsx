/** @jsxImportSource preact */
import type { LockStatus } from "../../../../streams/status/wire.ts";
import { lockKey, useLocks } from "../live/agents.ts";
import { memo } from "./memo.ts";
import { Items, Panel } from "./panel.tsx";
import { RunLink } from "./run-parts.tsx";
import { Time } from "./time.tsx";

const maxShown = 20;

interface LocksProps {
  readonly agent: string;
  /** All locks of the project. */
  readonly first: readonly LockStatus[];
}

/** The panel with the locks that an agent's runs hold and wait for. */
export function Locks({ agent, first }: LocksProps) {
  const locks = useLocks(first);
  const own = locks.filter((lock) => lock.agent === agent);
  const more = own.length - maxShown;
  return (
    <Panel id="locks" title="Locks">
      <Items
        id="locks"
        items={own}
        most={maxShown}
        note={own.length === 0 ? "No locks held." : more > 0 ? `and ${more} more` : ""}
      >
        {(lock) => <Lock lock={lock} holder={holderOf(lock, locks)} key={lockKey(lock)} />}
      </Items>
    </Panel>
  );
}

/** The run that holds the resource that another run waits for. */
function holderOf({ held, resource }: LockStatus, locks: readonly LockStatus[]) {
  return held ? undefined : locks.find((lock) => lock.held && lock.resource === resource);
}

interface LockProps {
  readonly lock: LockStatus;
  readonly holder: LockStatus | undefined;
}

const Lock = memo(({ lock, holder }: LockProps) => {
  const { resource, held, since, expiresAt } = lock;
  return (
    <li>
      <span class={held ? "pill running" : "pill held"}>{held ? "holds" : "waits for"}</span>{" "}
      <code>{resource}</code>
      <div class="sub">
        <RunLink agent={lock.agent} instanceId={lock.instanceId} />
        {held ? " holds it since " : " waits since "}
        <Time at={since} />
        {held && (
          <>
            , until at most <Time at={expiresAt} side="future" />
          </>
        )}
        {holder !== undefined && (
          <>
            {" for "}
            <RunLink agent={holder.agent} instanceId={holder.instanceId} />
          </>
        )}
      </div>
    </li>
  );
});
