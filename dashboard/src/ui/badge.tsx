import type { ReactNode } from 'react'
import type { JobStatus } from '../../../src/http/contract/index.ts'
import { type Tone, washOf } from './tone.ts'

export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center gap-1 rounded-full px-2 py-px text-xs font-medium whitespace-nowrap ${washOf[tone]}`}
    >
      {children}
    </span>
  )
}

const LOOKS: Record<JobStatus, { tone: Tone; sign: string }> = {
  waiting: { tone: 'info', sign: '◷' },
  running: { tone: 'good', sign: '▶' },
  succeeded: { tone: 'quiet', sign: '✓' },
  dead: { tone: 'bad', sign: '✕' },
  cancelled: { tone: 'quiet', sign: '⊘' },
}

export function StatusBadge({ status }: { status: JobStatus }) {
  const { tone, sign } = LOOKS[status]
  return (
    <Badge tone={tone}>
      <span aria-hidden="true">{sign}</span>
      {status}
    </Badge>
  )
}
