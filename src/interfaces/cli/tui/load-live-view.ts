import type { openLiveView } from "./live-view.ts";

/**
 * Loads the live view and what it is made with; nothing else may load these. React decides by NODE_ENV, when it is
 * loaded, whether it is the one for developers, which is slow and remembers every frame's times.
 */
export async function loadLiveView(): Promise<typeof openLiveView> {
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = "production";
  try {
    const view = await import("./live-view.ts");
    return view.openLiveView;
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
}
