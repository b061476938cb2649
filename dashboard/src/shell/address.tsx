// The address. Time zone and table stay in it from page to page.
import type { ReactNode } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import type { TimeMode } from '../format/show-time.ts'

const MODES: readonly string[] = ['local', 'utc', 'relative'] satisfies TimeMode[]

/** One value of the address; null removes it. Adds no history entry. */
export function useParam(name: string): [string | null, (value: string | null) => void] {
  const [params, setParams] = useSearchParams()
  const change = (value: string | null) =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before)
        if (value === null || value === '') after.delete(name)
        else after.set(name, value)
        return after
      },
      { replace: true },
    )
  return [params.get(name), change]
}

export function useTimeMode(): [TimeMode, (mode: TimeMode) => void] {
  const [asked, change] = useParam('tz')
  const mode = asked !== null && MODES.includes(asked) ? (asked as TimeMode) : 'relative'
  return [mode, (next) => change(next === 'relative' ? null : next)]
}

/** The selected table; null for all. */
export function useTable(): [string | null, (table: string | null) => void] {
  return useParam('table')
}

/** Adds the values that stay in the address. */
export function useAddress(): (path: string, values?: Record<string, string>) => string {
  const [mode] = useTimeMode()
  const [table] = useTable()
  return (path, values = {}) => {
    const query = new URLSearchParams({ ...(table === null ? {} : { table }), ...values })
    if (mode !== 'relative') query.set('tz', mode)
    const text = query.toString()
    return text === '' ? path : `${path}?${text}`
  }
}

export function useGo(): (path: string, values?: Record<string, string>) => void {
  const [, navigate] = useLocation()
  const address = useAddress()
  return (path, values) => navigate(address(path, values))
}

interface GoProps {
  to: string
  values?: Record<string, string>
  className?: string
  label?: string
  isCurrent?: boolean
  onClick?: () => void
  children: ReactNode
}

export function Go({ to, values, className = 'link', label, isCurrent, onClick, children }: GoProps) {
  const address = useAddress()
  return (
    <Link
      href={address(to, values)}
      className={className}
      {...(label === undefined ? {} : { 'aria-label': label })}
      {...(isCurrent === true ? { 'aria-current': 'page' as const } : {})}
      {...(onClick === undefined ? {} : { onClick })}
    >
      {children}
    </Link>
  )
}

export const jobPath = (id: string) => `/jobs/${encodeURIComponent(id)}`
