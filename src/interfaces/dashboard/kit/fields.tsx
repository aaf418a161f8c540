import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ListViews } from "./list.tsx";

/** The values of a form's fields, by name. */
const Values = createContext<ListViews["view"]["filters"]>({});

interface SelectProps {
  /** Names a field among the filters of a list. */
  readonly name?: string;
  readonly id?: string;
  readonly label: string;
  /** True if the label is for screen readers only. */
  readonly isBare?: boolean;
  /** The label for no choice; by default "Any" with the label: `Any outcome`. */
  readonly any?: string;
  readonly values: readonly string[];
  /** Labels shown instead of values. */
  readonly words?: Readonly<Partial<Record<string, string>>>;
  /** By default the value of the filter. */
  readonly value?: string;
  readonly onChange?: (value: string) => void;
}

/** A choice, mostly among the filters of a list. */
export function Select(props: SelectProps) {
  const { name = "", id, label, isBare = false, values, words = {}, onChange } = props;
  const filters = useContext(Values);
  const value = props.value ?? filters[name] ?? "";
  const any = props.any ?? `Any ${label.toLowerCase()}`;
  const field = useFieldValue<HTMLSelectElement>(value);
  return (
    <label>
      {!isBare && `${label} `}
      <select
        class="filter"
        name={name || undefined}
        id={id}
        aria-label={label}
        autocomplete="off"
        ref={field}
        onChange={({ currentTarget }) => onChange?.(currentTarget.value)}
      >
        <option value="">{any}</option>
        {values.map((each) => (
          <option value={each} selected={each === value} key={each}>
            {words[each] ?? each.replaceAll("_", " ")}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TextFieldProps {
  readonly name: string;
  readonly label: string;
  /** Suggestions while the reader types. */
  readonly suggestions: readonly string[];
  /** Whether a pause in the typing shows the view. */
  readonly isLive?: boolean;
}

const pauseMs = 250;

/** A text among the filters of a list. */
export function TextField({ name, label, suggestions, isLive = false }: TextFieldProps) {
  const value = useContext(Values)[name] ?? "";
  const field = useFieldValue<HTMLInputElement>(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const submitSoon = (): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => field.current?.form?.requestSubmit(), pauseMs);
  };
  return (
    <>
      <label>
        {label}{" "}
        <input
          class="filter"
          name={name}
          list={`${name}-names`}
          autocomplete="off"
          defaultValue={value}
          ref={field}
          onInput={isLive ? submitSoon : undefined}
        />
      </label>
      <datalist id={`${name}-names`}>
        {suggestions.map((each) => (
          <option value={each} key={each} />
        ))}
      </datalist>
    </>
  );
}

/** A field shows the view's value when that changes; meanwhile it has the text that the reader types. */
export function useFieldValue<Field extends HTMLInputElement | HTMLSelectElement>(value: string) {
  const field = useRef<Field>(null);
  // Runs before the next key is pressed, whose letter must not be overwritten.
  useLayoutEffect(() => {
    if (field.current !== null && field.current.value !== value) field.current.value = value;
  }, [value]);
  return field;
}

interface CheckboxProps {
  readonly name: string;
  readonly children: ComponentChildren;
}

/** A filter that is on or off: `true` in the form's values. */
export function Checkbox({ name, children }: CheckboxProps) {
  const isChecked = useContext(Values)[name] === "true";
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (field.current !== null) field.current.checked = isChecked;
  }, [isChecked]);
  return (
    <label class="toggle">
      <input type="checkbox" name={name} value="true" defaultChecked={isChecked} ref={field} />{" "}
      {children}
    </label>
  );
}

interface FiltersProps {
  readonly label: string;
  readonly hidden?: boolean;
  readonly role?: "search";
  readonly views: ListViews;
  /** The filters that stay when the reader clears them. */
  readonly kept?: Readonly<Record<string, string>>;
  readonly children: ComponentChildren;
  readonly after?: ComponentChildren;
}

/** The form of a list's filters: each change shows another view. */
export function Filters(props: FiltersProps) {
  const { label, hidden, role, views, kept = {}, children, after } = props;
  const form = useRef<HTMLFormElement>(null);
  const change = (event: Event): void => {
    event.preventDefault();
    if (form.current !== null) views.filter(valuesOf(form.current));
  };
  const reset = (event: Event): void => {
    event.preventDefault();
    views.filter(kept);
  };
  return (
    <form
      class="filters"
      id="filters"
      aria-label={label}
      role={role}
      hidden={hidden}
      ref={form}
      onSubmit={change}
      onChange={change}
      onReset={reset}
    >
      <Values.Provider value={views.view.filters}>{children}</Values.Provider>
      <button class="link" type="reset" id="all" hidden={!views.isNarrow}>
        Clear filters
      </button>
      {after}
    </form>
  );
}

function valuesOf(form: HTMLFormElement): Readonly<Record<string, string>> {
  const values = [...new FormData(form)].flatMap(([name, value]) =>
    typeof value === "string" && value.trim() !== "" ? [[name, value.trim()] as const] : [],
  );
  return Object.fromEntries(values);
}
