import type { ComponentChildren, TargetedEvent } from "preact";

interface TableProps {
  /** Titles; one in parentheses is for screen readers only. */
  readonly columns: readonly string[];
  readonly class?: string;
  readonly id?: string;
  readonly rowsId?: string;
  readonly hidden?: boolean;
  readonly children: ComponentChildren;
}

/** A table whose body is its children. */
export function Table({ columns, class: more = "", id, rowsId, hidden, children }: TableProps) {
  return (
    <div class="scroll">
      <table class={`history ${more}`} id={id} hidden={hidden}>
        <thead>
          <tr>
            {columns.map((title) => (
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
        <tbody id={rowsId}>{children}</tbody>
      </table>
    </div>
  );
}

interface UnfoldProps {
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly label: string;
  readonly class?: string;
  readonly hidden?: boolean;
  readonly children: ComponentChildren;
}

/** The button that shows and hides a row below its own. */
export function Unfold(props: UnfoldProps) {
  const { isOpen, onToggle, label, class: more = "link", hidden, children } = props;
  return (
    <button
      type="button"
      class={more}
      hidden={hidden}
      aria-expanded={isOpen}
      aria-label={label}
      onClick={onToggle}
    >
      {children}
    </button>
  );
}

/** The row that unfolds below another row. */
export function DetailsRow({
  columns,
  children,
}: {
  readonly columns: number;
  readonly children: ComponentChildren;
}) {
  return (
    <tr class="details-row">
      <td colSpan={columns}>{children}</td>
    </tr>
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
