import { createMcpConnect } from "../../../../src/runtime/runs/connect-mcp.ts";

/** Connections of runs to a server, by the real client, which end with the test. */
export function mcpClients(url: string, timeoutSeconds = 60) {
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const credential = () => Promise.reject(new Error("there is none"));
  const connect = createMcpConnect({ credential, env: {} }, () => null);
  const { signal } = over;
  const server = {
    name: "evil",
    url,
    command: null,
    tools: ["*"],
    credential: null,
    private: true,
    timeoutSeconds,
  };
  return { signal, connect: (instanceId: string) => connect(server, { instanceId, signal }) };
}
