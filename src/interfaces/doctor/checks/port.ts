import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { exposureAt } from "../../../foundation/contracts/exposure.ts";
import { messageOf } from "../../../foundation/errors.ts";
import type { Check, Finding } from "../finding.ts";
import { alCommand, note, ok } from "../finding.ts";
import type { DoctorContext } from "../doctor-context.ts";

/** Whether the gateway's port is free, or this project's own scheduler listens on it. */
export const port: Check = {
  name: "port",
  run: async (context) => {
    const { project, scheduler } = context;
    if (project === null) return [];
    if (scheduler !== null) {
      const { pid, gatewayUrl } = scheduler;
      return [ok(`the scheduler (pid ${pid}) listens at ${gatewayUrl ?? "its Unix socket only"}`)];
    }
    const { host, port: number } = project.gateway;
    const code = await whyTaken(host, number);
    const state = code === null ? ok(`${host} port ${number} is free`) : await taken(context, code);
    return [state, ...reachable(host)];
  },
};

async function taken(context: DoctorContext, code: string): Promise<Finding> {
  const { host = "", port: number = 0 } = context.project?.gateway ?? {};
  const where = "config.toml [gateway]";
  if (code !== "EADDRINUSE" && code !== "EACCES") {
    const fix = alCommand(context, "config --set gateway.host=127.0.0.1");
    const what = `this machine can't listen at ${host} (${code})`;
    return { severity: "error", what, where, fix };
  }
  const why = code === "EACCES" ? "needs more rights" : "is taken by another program";
  const what = `port ${number} of ${host} ${why}`;
  const fix = alCommand(context, `config --set gateway.port=${await listen(host, 0)}`);
  return { severity: "error", what, where, fix };
}

/** The error's code when no program can listen there; null when it works. */
async function whyTaken(host: string, number: number): Promise<string | null> {
  try {
    await listen(host, number);
    return null;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : messageOf(error);
  }
}

/** Listens for a moment; resolves to the port, where 0 was any that is free. */
function listen(host: string, number: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host, port: number, exclusive: true }, () => {
      const { port: used } = server.address() as AddressInfo;
      server.close(() => resolve(used));
    });
  });
}

function reachable(host: string): Finding[] {
  const exposure = exposureAt(host);
  return exposure === null ? [] : [note(exposure.what, exposure.advice)];
}
