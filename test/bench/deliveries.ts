import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { bytes, githubExample } from "../features/webhooks/deliveries.ts";
import type { LoadRequest } from "../features/webhooks/load.ts";
import { secretOf } from "../features/webhooks/webhook-project.ts";

const payload = githubExample("issues", "opened");

export interface DeliveriesOptions {
  readonly count: number;
  /** Full name of the repository that each is from. */
  readonly repo?: (n: number) => string;
  readonly secret?: string;
  /** Delivery id; different ones by default. */
  readonly id?: (n: number) => string;
}

let made = 0;

/** Signed deliveries of an opened issue, made before any clock starts; no two have the same id. */
export function githubDeliveries(options: DeliveriesOptions): readonly LoadRequest[] {
  const batch = made++;
  const { secret = secretOf("github"), repo = () => "acme/app" } = options;
  const { id = (n: number) => `bench-${batch}-${n}` } = options;
  const bodies = new Map<string, Buffer>();
  const bodyFrom = (name: string): Buffer => {
    const repository = { ...(payload.repository as object), full_name: name };
    const body = bodies.get(name) ?? bytes({ ...payload, repository });
    bodies.set(name, body);
    return body;
  };
  return Array.from({ length: options.count }, (_, n) => {
    const body = bodyFrom(repo(n));
    const event = { event: "issues", id: id(n) };
    const headers = signDelivery("github", secret, body, Date.now(), event);
    return { path: "/webhooks/github", headers, body };
  });
}

/** The config of an agent that takes deliveries of a repository of its name; its run sleeps, and further ones wait. */
export function deliveriesTo(agent: string): string {
  return `scale = 1
hooks.pre = ["sleep 3600"]
[[webhooks]]
source = "github"
events = ["issues"]
repos = ["acme/${agent}"]
`;
}
