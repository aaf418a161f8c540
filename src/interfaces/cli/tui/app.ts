import { useInput, usePaste, useWindowSize } from "ink";
import { createElement as h } from "react";
import type { ReactElement } from "react";
import type { Observable } from "rxjs";
import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import { help, stoppingText } from "./footer.ts";
import { keyNames } from "./keys.ts";
import { onKey } from "./on-key.ts";
import { overview } from "./overview.ts";
import { Screen } from "./screen.ts";
import type { ScreenStyle } from "./screen.ts";
import { useEndsAt, useNow, useStatus, useView } from "./use-view.ts";
import { useSuspend } from "./use-suspend.ts";
import type { TerminalModes } from "./use-suspend.ts";
import { shownAgents } from "./view-state.ts";
import type { Message, ViewSource, ViewState } from "./view-state.ts";

export interface AppProps {
  readonly source: ViewSource;
  /** Messages for the last line. */
  readonly message$: Observable<Message>;
  readonly modes: TerminalModes;
}

/** The live view: what is shown of the status, and what keys do. */
export function App({ source, message$, modes }: AppProps): ReactElement {
  const { operations, colors } = source;
  const snapshot = useStatus(operations);
  const now = useNow();
  const { columns, rows } = useWindowSize();
  const view = useView(message$);
  const endsAt = useEndsAt(source);
  const terminal = useSuspend(modes, () => operations.phase() === "draining");

  useInput((input, key) => {
    for (const name of keyNames(input, key)) {
      const agents = shownAgents(snapshot.agents, view.current());
      onKey(name, { source, view, agents, rows, ...terminal });
    }
  });
  // What is pasted is no command.
  usePaste(() => undefined);

  const stopping = endsAt === null ? null : stoppingText(snapshot, endsAt - now);
  const style = { columns, rows, colors, now };
  return screenOf({ source, snapshot, view: view.current(), stopping, style });
}

interface Shown {
  readonly source: ViewSource;
  readonly snapshot: StatusSnapshot;
  readonly view: ViewState;
  readonly stopping: string | null;
  readonly style: ScreenStyle;
}

function screenOf({ source, snapshot, view, stopping, style }: Shown): ReactElement {
  if (view.screen === "help") return h(Screen, { lines: help(style) });
  return h(Screen, { lines: overview({ ...source, view, snapshot, stopping }, style) });
}
