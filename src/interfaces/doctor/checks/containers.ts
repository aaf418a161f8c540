import { needsImage } from "../../../../streams/agent-config.ts";
import { connectEngine } from "../../../runtime/runners/container/engine.ts";
import {
  instanceLabel,
  projectId,
  projectLabel,
} from "../../../runtime/runners/container/labels.ts";
import type { Check } from "../finding.ts";
import { alCommand, ok } from "../finding.ts";

const callTimeoutMs = 5000;

/** Whether a scheduler that is gone left containers of its runs. */
export const containers: Check = {
  name: "containers",
  run: async (context) => {
    const { env, projectDir, scheduler } = context;
    if (scheduler !== null) return [];
    const engine = connectEngine({ env, callTimeoutMs });
    const label = [`${projectLabel}=${projectId(projectDir)}`, instanceLabel];
    const list = engine.calls().listContainers({ all: true, filters: { label } });
    // Whether the engine can be reached is the engine's check.
    const left = await list.catch(() => null);
    if (left === null) return [];
    if (left.length === 0) return [ok("none are left over")];
    const names = left.map(({ Id, Labels }) => Labels[instanceLabel] ?? Id.slice(0, 12));
    const what = `runs of a scheduler that is gone left ${left.length}: ${names.join(", ")}`;
    const isTakenOver = context.agents.some(needsImage);
    const fix = isTakenOver
      ? `${alCommand(context, "start")}, which adopts those that live and removes the others`
      : `docker rm --force ${left.map(({ Id }) => Id.slice(0, 12)).join(" ")}`;
    return [{ severity: "warning", what, where: engine.address(), fix }];
  },
};
