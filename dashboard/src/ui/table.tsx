import type { ReactNode } from 'react'

interface TableProps {
  /** Used in its label: `queues` gives “Table of queues”. */
  name: string
  /** An empty name is the column of actions. */
  columns: readonly string[]
  /** Columns of numbers, aligned to the right as their cells. */
  numbers?: readonly string[]
  children: ReactNode
}

/** A scrollable table, also by keyboard. */
export function Table({ name, columns, numbers = [], children }: TableProps) {
  return (
    <div className="relative overflow-x-auto" role="region" aria-label={`Table of ${name}`} tabIndex={0}>
      <table className="w-full text-left">
        <thead className="text-xs text-soft">
          <tr>
            {columns.map((column) => (
              <th
                key={column}
                scope="col"
                className={`py-1.5 pr-4 font-medium whitespace-nowrap ${numbers.includes(column) ? 'text-right' : ''}`}
              >
                {column === '' ? <span className="sr-only">Actions</span> : column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

/** A table whose rows are cards on a phone. The roles are written down, since `display` would remove them there. */
export function CardTable({ name, columns, numbers = [], children }: TableProps) {
  return (
    <div className="relative overflow-x-auto" role="region" aria-label={`Table of ${name}`} tabIndex={0}>
      <table role="table" className="w-full text-left max-sm:block">
        <thead role="rowgroup" className="text-xs text-soft max-sm:sr-only">
          <tr role="row">
            {columns.map((column) => (
              <th
                key={column}
                role="columnheader"
                scope="col"
                className={`py-1.5 pr-4 align-bottom font-medium xl:whitespace-nowrap ${numbers.includes(column) ? 'text-right' : ''}`}
              >
                {column === '' ? <span className="sr-only">Actions</span> : column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" className="max-sm:block">
          {children}
        </tbody>
      </table>
    </div>
  )
}

export function CardRow({ children }: { children: ReactNode }) {
  return (
    <tr
      role="row"
      className="border-t border-line max-sm:grid max-sm:grid-cols-3 max-sm:gap-x-4 max-sm:gap-y-2 max-sm:py-3 max-sm:first:border-t-0 max-sm:first:pt-0"
    >
      {children}
    </tr>
  )
}

interface CardCellProps {
  /** The column, above the value on a phone. Absent: the cell spans the card. */
  label?: string
  className?: string
  title?: string
  children: ReactNode
}

export function CardCell({ label, className = '', title, children }: CardCellProps) {
  return (
    <td
      role="cell"
      title={title}
      className={`max-sm:p-0 max-sm:text-left ${label === undefined ? 'max-sm:col-span-3' : ''} ${className}`}
    >
      {label === undefined ? (
        children
      ) : (
        <>
          <span aria-hidden="true" className="block text-xs text-soft sm:hidden">
            {label}
          </span>
          <div>{children}</div>
        </>
      )}
    </td>
  )
}
