import { pause } from "../../helpers/pause.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { deliveriesTo, githubDeliveries } from "../deliveries.ts";
import { figureOf, type Measure } from "../figure.ts";
import { sendAll } from "../load.ts";
import { residentMb, withScheduler } from "../with-scheduler.ts";

const agents = 100;
const connections = 50;

/** Memory while deliveries come, and a minute after them. */
export const answers: Measure = {
  name: "answers",
  run: ({ quick }) => {
    const project = benchProject({ count: agents, config: (n) => deliveriesTo(agentName(n)) });
    return withScheduler(project, async ({ url, pid }) => {
      const restMs = quick ? 2_000 : 60_000;
      await pause(restMs, "the scheduler rests");
      const before = await residentMb(pid);
      const during: number[] = [];
      for (const until = performance.now() + restMs; performance.now() < until;) {
        const repo = (n: number) => `acme/${agentName(n % agents)}`;
        await sendAll(url, githubDeliveries({ count: 2_000, repo }), connections);
        during.push(await residentMb(pid));
      }
      await pause(restMs, "the scheduler rests");
      const name = `memory, ${connections} connections deliver for ${restMs / 1000} s`;
      const grown = [(await residentMb(pid)) - before];
      return [
        figureOf(name, "MB", during, { target: { most: 300 } }),
        figureOf(`${name}: grew, as long after it`, "MB", grown, { target: { most: 20 } }),
      ];
    });
  },
};
