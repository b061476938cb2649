// Where we are. The time zone stays in the address from page to page.
import type { ReactNode } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import type { TimeMode } from '../show-time.ts'

const MODES: readonly string[] = ['local', 'utc', 'relative'] satisfies TimeMode[]

export function useTimeMode(): [TimeMode, (mode: TimeMode) => void] {
  const [params, setParams] = useSearchParams()
  const asked = params.get('tz')
  const mode = asked !== null && MODES.includes(asked) ? (asked as TimeMode) : 'local'
  const change = (next: TimeMode) =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before)
        if (next === 'local') after.delete('tz')
        else after.set('tz', next)
        return after
      },
      { replace: true },
    )
  return [mode, change]
}

/** Adds what has to stay in the address. */
export function useAddress(): (path: string, values?: Record<string, string>) => string {
  const [mode] = useTimeMode()
  return (path, values = {}) => {
    const query = new URLSearchParams(values)
    if (mode !== 'local') query.set('tz', mode)
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
