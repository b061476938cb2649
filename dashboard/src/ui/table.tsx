import type { ReactNode } from 'react'

interface TableProps {
  /** `queues`: it is the table of queues. */
  name: string
  /** An empty name is that of the column with what can be done. */
  columns: readonly string[]
  children: ReactNode
}

/** A table that scrolls by itself, by keyboard too. */
export function Table({ name, columns, children }: TableProps) {
  return (
    <div className="relative overflow-x-auto" role="region" aria-label={`Table of ${name}`} tabIndex={0}>
      <table className="w-full text-left">
        <thead className="text-xs text-soft">
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col" className="py-1.5 pr-4 font-medium whitespace-nowrap">
                {column === '' ? <span className="sr-only">Act</span> : column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
