import { useState } from "preact/hooks";
import { publicPath } from "../../text/base-path.ts";
import { Copied } from "../../kit/copied.tsx";

const json = (value: object): string => JSON.stringify(value, null, 2);

/** The config of each client. Its token comes from the environment or a prompt: no file holds it. */
export const mcpClientSetups = (url: string) =>
  [
    [
      "Claude Code",
      "in a shell",
      `claude mcp add --transport http --scope user almanac ${url} --header 'Authorization: Bearer \${ALMANAC_TOKEN}'`,
    ],
    [
      "Cursor",
      "~/.cursor/mcp.json",
      json({
        mcpServers: { almanac: { url, headers: { Authorization: "Bearer ${env:ALMANAC_TOKEN}" } } },
      }),
    ],
    [
      "VS Code",
      ".vscode/mcp.json",
      json({
        inputs: [
          { type: "promptString", id: "almanac", description: "Almanac API token", password: true },
        ],
        servers: {
          almanac: { type: "http", url, headers: { Authorization: "Bearer ${input:almanac}" } },
        },
      }),
    ],
    [
      "Codex",
      "~/.codex/config.toml",
      `[mcp_servers.almanac]\nurl = "${url}"\nbearer_token_env_var = "ALMANAC_TOKEN"`,
    ],
    [
      "Any client on this machine",
      "starts a command, and needs no token",
      json({ mcpServers: { almanac: { command: "al", args: ["mcp", "-p", "/path/to/project"] } } }),
    ],
  ] as const;

/** Configs to paste into AI assistants, so that they use this scheduler by MCP. */
export function McpSetup({ gatewayUrl }: { readonly gatewayUrl: string }) {
  const setups = mcpClientSetups(`${gatewayUrl}${publicPath("/mcp")}`);
  const [chosen, choose] = useState<string>(setups[0][0]);
  return (
    <>
      <p class="muted">
        Put a token into <code>ALMANAC_TOKEN</code> of the client’s environment. Behind a proxy, use
        its address.
      </p>
      <div class="clients" role="group" aria-label="Client">
        {setups.map(([name]) => (
          <button
            type="button"
            class="button"
            aria-pressed={name === chosen}
            key={name}
            onClick={() => choose(name)}
          >
            {name}
          </button>
        ))}
      </div>
      {setups.map(([name, place, text]) => (
        <div key={name} hidden={name !== chosen}>
          <h3>
            {name} <span class="muted">{place}</span>
          </h3>
          <Copied text={text} label={`${name}: ${place}`} />
        </div>
      ))}
    </>
  );
}
