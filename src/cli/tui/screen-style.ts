import type { Colors } from "../terminal/output.ts";

/** How a screen is drawn: in how much room, with what, and when. */
export interface ScreenStyle {
  readonly columns: number;
  readonly rows: number;
  readonly colors: Colors;
  /** Epoch ms, to which times are relative. */
  readonly now: number;
}
