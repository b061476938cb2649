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
