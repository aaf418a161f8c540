import { requestOf } from "../../src/foundation/operation.ts";

test.each(["", ".", ".."])(
  "an operation on the run %j is not sent, as its path would be that of another operation",
  (instanceId) => {
    const request = () => requestOf("POST /control/kill/:instanceId", { instanceId });
    expect(request).toThrow(`"${instanceId}" is not a name`);
  },
);
