import type { Served } from "../../../src/runtime/run-api/app.ts";

/** For run sockets whose runs ask for no other host. */
export const noEgress: Served["egress"] = {
  connect: (_run, _request, client) => void client.destroy(),
  forward: (_run, _request, response) => void response.destroy(),
};
