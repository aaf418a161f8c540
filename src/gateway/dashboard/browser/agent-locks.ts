import type { LockStatus } from "../../../../streams/status/wire.ts";
import { byId, create, setText } from "./dom.ts";
import { claimName } from "./lock-claims.ts";
import { runLink } from "./run-link.ts";
import { createTime } from "./time-cell.ts";

/** What the runs of the page's agent hold and wait for. */
export interface AgentLocks {
  /** All claims of the project. */
  show(claims: readonly LockStatus[]): void;
  tick(now: number): void;
}

interface ClaimItem {
  readonly element: HTMLElement;
  tick(now: number): void;
}

const shownClaims = 20;

/** Fills the page's panel. */
export function createAgentLocks(agent: string): AgentLocks {
  const items = new Map<string, ClaimItem>();
  return {
    show: (claims) => {
      const own = claims.filter((claim) => claim.agent === agent);
      const holders = new Map(claims.filter(({ held }) => held).map((one) => [one.resource, one]));
      const known = new Map(items);
      items.clear();
      for (const claim of own.slice(0, shownClaims)) {
        const holder = claim.held ? undefined : holders.get(claim.resource);
        const key = JSON.stringify([claim, holder && claimName(holder)]);
        // One that did not change keeps focus and selection.
        items.set(key, known.get(key) ?? createClaimItem(claim, holder));
      }
      const list = byId("lock-list");
      for (const [key, { element }] of known) if (!items.has(key)) element.remove();
      let below: HTMLElement | null = null;
      for (const [key, { element }] of [...items].reverse()) {
        if (!known.has(key)) {
          if (below === null) list.append(element);
          else below.before(element);
        }
        below = element;
      }
      setText(byId("locks-note"), noteText(own.length));
      byId("locks-note").hidden = own.length > 0 && own.length <= shownClaims;
    },
    tick: (now) => {
      for (const item of items.values()) item.tick(now);
    },
  };
}

function noteText(count: number): string {
  return count === 0 ? "Its runs hold nothing." : `and ${count - shownClaims} more`;
}

function createClaimItem(claim: LockStatus, holder: LockStatus | undefined): ClaimItem {
  const { resource, agent, instanceId, held } = claim;
  const element = create("li");
  const since = createTime("past");
  since.show(claim.since, "–");
  const line = create("div", "sub");
  line.append(runLink(agent, instanceId), held ? " holds it since " : " waits since ");
  line.append(since.element);
  const expires = createTime("future");
  expires.show(claim.expiresAt, "–");
  if (held) line.append(", until at most ", expires.element);
  if (holder !== undefined) line.append(" for ", runLink(holder.agent, holder.instanceId));
  const state = create("span", held ? "pill running" : "pill held", held ? "holds" : "waits for");
  element.append(state, " ", create("code", "", resource), line);
  return {
    element,
    tick: (now) => {
      since.tick(now);
      expires.tick(now);
    },
  };
}
