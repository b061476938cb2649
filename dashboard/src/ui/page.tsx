// The layout of a page, and its empty, loading and failed states.
import { type ReactNode, useEffect, useRef } from 'react'
import { messageOf, RequestProblem } from '../api/client.ts'
import { Button } from './button.tsx'

interface PageProps {
  title: string
  /** Title of the browser tab. Default: the page title. */
  tabTitle?: string
  lead?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

export function Page({ title, tabTitle, lead, actions, children }: PageProps) {
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${tabTitle ?? title} · unstuck`
  }, [title, tabTitle])
  // Keyboard and screen reader users start at the heading of the new page.
  useEffect(() => ref.current?.focus({ preventScroll: true }), [])
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <div className="min-w-0">
          <h1 ref={ref} tabIndex={-1} className="text-xl font-semibold tracking-tight break-all">
            {title}
          </h1>
          {lead === undefined ? null : <div className="text-soft">{lead}</div>}
        </div>
        {actions === undefined ? null : <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
      {children}
    </div>
  )
}

interface PanelProps {
  title: string
  aside?: ReactNode
  children: ReactNode
  className?: string
}

export function Panel({ title, aside, children, className = '' }: PanelProps) {
  return (
    <section aria-label={title} className={`panel min-w-0 ${className}`}>
      <div className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-1.5">
        <h2 className="text-sm font-semibold">{title}</h2>
        {aside === undefined ? null : <div className="text-xs text-soft">{aside}</div>}
      </div>
      <div className="p-4">{children}</div>
    </section>
  )
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-10 text-center">
      <div aria-hidden="true" className="mb-1 flex w-16 flex-col gap-1.5 opacity-60">
        <span className="h-1.5 w-full rounded-full bg-line" />
        <span className="h-1.5 w-2/3 rounded-full bg-line" />
        <span className="h-1.5 w-1/3 rounded-full bg-line" />
      </div>
      <p className="font-medium">{title}</p>
      {children === undefined ? null : <div className="max-w-prose text-soft">{children}</div>}
    </div>
  )
}

export function Loading({ what }: { what: string }) {
  return (
    <div role="status" className="flex flex-col gap-2 py-6">
      <span className="sr-only">Loading {what}</span>
      {['w-full', 'w-5/6', 'w-2/3'].map((width) => (
        <span key={width} aria-hidden="true" className={`h-3 animate-pulse rounded bg-raised ${width}`} />
      ))}
    </div>
  )
}

export function Broken({ what, error, retry }: { what: string; error: unknown; retry?: () => void }) {
  const code = error instanceof RequestProblem ? error.problem.code : undefined
  return (
    <div
      role="alert"
      className="flex flex-col items-start gap-2 rounded-lg border border-bad-bar/50 bg-bad-wash px-4 py-3"
    >
      <p className="font-medium text-bad">
        <span aria-hidden="true">✕ </span>
        {what} could not be read
      </p>
      <p>
        {messageOf(error)}
        {code === undefined ? null : <code className="ml-2 font-mono text-xs">{code}</code>}
      </p>
      {retry === undefined ? null : <Button onClick={retry}>Try again</Button>}
    </div>
  )
}

/** A refusal: retrying does not help. */
export function NotForYou({ reason }: { reason: string }) {
  return <p className="py-2 text-soft">No access: {reason}.</p>
}

/** Not supported by the store. */
function NotThere({ what, reason }: { what: string; reason: string }) {
  return (
    <div className="panel">
      <Empty title={`${what}: not available with this store`}>{reason}</Empty>
    </div>
  )
}

interface ReadResult<Data> {
  data: Data | undefined
  error: unknown
  refetch: () => unknown
}

/** Loading, failed, refused, unsupported or `children`. Loaded data stays if a later read fails. */
export function Read<Data>(props: {
  what: string
  from: ReadResult<Data>
  children: (data: Data) => ReactNode
}) {
  const { what, from, children } = props
  if (from.data !== undefined) return children(from.data)
  if (from.error === null) return <Loading what={what} />
  if (from.error instanceof RequestProblem && from.error.problem.code === 'FORBIDDEN')
    return <NotForYou reason={messageOf(from.error)} />
  if (from.error instanceof RequestProblem && from.error.problem.code === 'NOT_SUPPORTED')
    return <NotThere what={what} reason={messageOf(from.error)} />
  return <Broken what={what} error={from.error} retry={() => void from.refetch()} />
}

export function Command({ children }: { children: string }) {
  return (
    <code className="inline-block max-w-full rounded-md wrap-anywhere border border-line bg-raised px-2 py-1 font-mono text-xs text-ink select-all">
      {children}
    </code>
  )
}
