/** The worker that all pages of a browser share: one stream keeps all of them current. */
import { createHub, type HubMessage, type PageMessage } from "./hub.ts";

/** nginx takes an address of 8 kB. */
const mostLength = 6_000;
const hub = createHub(new URL("api/", location.href).href, mostLength);

addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  const page = (message: HubMessage): void => port.postMessage(message);
  port.addEventListener("message", ({ data }: MessageEvent<PageMessage>) =>
    hub.receive(page, data),
  );
  // A page that crashed sends no message.
  port.addEventListener("close", () => hub.receive(page, null));
  port.start();
});
