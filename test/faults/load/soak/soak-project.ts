import type { TestProject } from "../../../helpers/scheduler.ts";
import { agentConfig } from "../../../features/webhooks/webhook-project.ts";
import { agentName, benchProject } from "../../../bench/bench-project.ts";

const agents = 100;
/** Agents with runs now and then, and agents whose config is edited: the first ones, and those after them. */
export const runners = Array.from({ length: 6 }, (_, n) => agentName(n));
export const edited = Array.from({ length: 6 }, (_, n) => agentName(10 + n));
/** The agent that gets more work than it can do: the oldest makes room. */
export const busy = agentName(20);

/** The config of an agent that takes the deliveries of its repository; its runs end before they ask a model. */
export function configOf(agent: string, schedule = "0 3 1 1 *"): string {
  const sleep = agent === busy ? "sleep 3; " : "";
  return agentConfig(`schedule = "${schedule}"
scale = 1
maxWorkQueueSize = 1
hooks.pre = ["${sleep}al-exit"]
[[webhooks]]
source = "github"
events = ["issues"]
repos = ["acme/${agent}"]
`);
}

/** A hundred agents that wait for webhooks. */
export function soakProject(): Promise<TestProject> {
  return benchProject({ count: agents, config: (n) => configOf(agentName(n)), whole: true });
}
