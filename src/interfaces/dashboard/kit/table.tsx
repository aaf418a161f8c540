import type { ComponentChildren, FunctionComponent, TargetedEvent } from "preact";
import { useState } from "preact/hooks";

/** Whether the details of a row are unfolded below it, and the function that changes it. */
interface Unfolding {
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

/** The props of a cell. */
export type CellOf<Row> = Row & { readonly unfolding: Unfolding };

/** A column: its title (one in parentheses is for screen readers only), and the content and class of a row's cell. */
export type Column<Row> = readonly [
  title: string,
  content: FunctionComponent<CellOf<Row>>,
  look?: string,
];

export interface TableProps<Row> {
  /** The id of its body, and its class. */
  readonly id: string;
  readonly class?: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly hidden?: boolean;
  /** What a cell's `Unfold` unfolds below its row. */
  readonly details?: FunctionComponent<Row>;
  /** The key of the row that is unfolded at first. */
  readonly opened?: string | undefined;
  /** Called with the key of a row that is unfolded or folded. */
  readonly onUnfold?: (key: string, isOpen: boolean) => void;
  /** Below the rows: how many more there are; empty if there are none. */
  readonly more?: string;
}

/** A table of rows. */
export function Table<Row extends object>(props: TableProps<Row>) {
  const { id, class: look = id, columns, rows, keyOf, hidden, more } = props;
  return (
    <div class="scroll">
      <table class={`history ${look}`} hidden={hidden}>
        <thead>
          <tr>
            {columns.map(([title]) => (
              <th scope="col" key={title}>
                {title.startsWith("(") ? (
                  <span class="visually-hidden">{title.slice(1, -1)}</span>
                ) : (
                  title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody id={id}>
          {rows.map((row) => (
            <TableRow {...props} row={row} name={keyOf(row)} key={keyOf(row)} />
          ))}
          {more && (
            <tr>
              <td class="muted" colSpan={columns.length}>
                {more}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps<Row> extends TableProps<Row> {
  readonly row: Row;
  /** Its key. */
  readonly name: string;
}

function TableRow<Row extends object>(props: RowProps<Row>) {
  const { row, name, columns, details: Details, onUnfold } = props;
  const [isOpen, setOpen] = useState(name === props.opened);
  const toggle = (): void => {
    setOpen(!isOpen);
    onUnfold?.(name, !isOpen);
  };
  return (
    <>
      <tr data-entry={onUnfold && name}>
        {columns.map(([title, Content, look]) => (
          <td class={look} key={title}>
            <Content {...row} unfolding={{ isOpen, toggle }} />
          </td>
        ))}
      </tr>
      {isOpen && Details && (
        <tr class="details-row">
          <td colSpan={columns.length}>
            <Details {...row} />
          </td>
        </tr>
      )}
    </>
  );
}

interface UnfoldProps extends Unfolding {
  /** Its text, and another one while the details are shown. */
  readonly words: string;
  readonly openWords?: string;
  /** Read by screen readers behind the text. */
  readonly label: string;
  readonly class?: string;
  readonly hidden?: boolean;
}

/** The button of a cell that shows and hides the details of its row. */
export function Unfold(props: UnfoldProps) {
  const { isOpen, toggle, label, class: look = "link", hidden, openWords = props.words } = props;
  const words = isOpen ? openWords : props.words;
  return (
    <button
      type="button"
      class={look}
      hidden={hidden}
      aria-expanded={isOpen}
      aria-label={`${words} ${label}`}
      onClick={toggle}
    >
      {words}
    </button>
  );
}

interface FoldProps {
  readonly summary: ComponentChildren;
  readonly class?: string;
  readonly isOpen?: boolean;
  /** Called when it is first opened. */
  readonly onOpen?: () => void;
  readonly children: ComponentChildren;
}

/** A text that unfolds. After the first rendering, only the reader opens and closes it. */
export function Fold({ summary, class: more, isOpen = false, onOpen, children }: FoldProps) {
  const toggle = ({ currentTarget }: TargetedEvent<HTMLDetailsElement>): void => {
    if (currentTarget.open) onOpen?.();
  };
  return (
    <details class={more} open={isOpen} onToggle={toggle}>
      <summary>{summary}</summary>
      {children}
    </details>
  );
}
