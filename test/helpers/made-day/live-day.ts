import { signDelivery } from "../../../src/features/webhooks/sign.ts";
import { bytes } from "../../features/webhooks/deliveries.ts";
import { secretOf } from "../../features/webhooks/webhook-project.ts";
import { LiveProject } from "../live-project.ts";
import { slow } from "./agents.ts";
import { madeDay } from "./made-day.ts";

/** The agent whose own filter turned a delivery away. */
export const unwilling = "review-web";

/** Thirty agents with a day behind them and their scheduler: one runs, and one was just sent what it does not want. */
export async function startLiveDay(): Promise<LiveProject> {
  const project = new LiveProject(await madeDay());
  const scheduler = await project.start({ args: ["--headless"] });
  await scheduler.api(`/control/trigger/${slow}`, { method: "POST" });
  const body = bytes({
    action: "closed",
    number: 7,
    pull_request: { number: 7, title: "Faster search", user: { login: "octocat" } },
    repository: { full_name: "acme/web" },
    sender: { login: "octocat", type: "User" },
  });
  const delivery = { event: "pull_request", id: "delivery-7" };
  const headers = signDelivery("github", secretOf("github"), body, Date.now(), delivery);
  const url = `${scheduler.url}/webhooks/github`;
  await fetch(url, { method: "POST", headers, body: new Uint8Array(body) });
  return project;
}
