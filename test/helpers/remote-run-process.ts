import { ticketSchema } from "../../src/runtime/wire/remote-protocol.ts";
import type { Launch } from "../../src/runtime/cluster/cluster-engine.ts";
import { killRun } from "../../src/runtime/wire/marked-processes.ts";
import { startRemoteRun } from "../runtime/cluster/remote-run/start-remote-run.ts";
import type { EngineProcess } from "./process-engine.ts";

/** `al _remote-run` on this machine, which starts the launch's command as the run's own process. */
export function remoteRunProcess({ instanceId, ticket, command, env }: Launch): EngineProcess {
  const given = ticketSchema.parse(JSON.parse(ticket));
  const started = startRemoteRun(given, command, { ...env, AL_NODE: "here" });
  const kill = (): void => {
    started[Symbol.dispose]();
    void killRun(instanceId);
  };
  const ended = started.ended.then(async (code) => {
    await killRun(instanceId);
    started[Symbol.dispose]();
    return typeof code === "number" ? code : null;
  });
  return { ended, kill };
}
