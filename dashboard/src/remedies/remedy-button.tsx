// The act that ends a cause, beside the cause: a button if the server can do it, else the command to copy.
import { useState } from 'react'
import type { Remedy } from '../../../src/http/contract/index.ts'
import {
  cancelJob,
  drainWorker,
  resumeBreaker,
  resumeQueue,
  retryJob,
  runSweep,
  useCommand,
} from '../api/commands.ts'
import { quoted } from '../format/cli-line.ts'
import { Button } from '../ui/button.tsx'
import { ChangeDialog } from '../ui/change-dialog.tsx'
import { CopyLine } from '../ui/copy-line.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { say } from '../ui/toast.tsx'
import { useRefusal } from '../ui/use-refusal.ts'

type Command = Parameters<ReturnType<typeof useRefusal>>[0]

interface Deed {
  label: string
  command: Command
  isDanger?: boolean
  run: (subject: string, table: string | null, reason: string) => Promise<unknown>
}

const DEEDS: Partial<Record<Remedy['act'], Deed>> = {
  sweep: {
    label: 'Sweep now',
    command: 'sweep',
    run: async (_subject, table, reason) => {
      const { requeuedIds, failedIds } = await runSweep(table, reason)
      return `${requeuedIds.length} requeued, ${failedIds.length} dead.`
    },
  },
  'resume-queue': {
    label: 'Resume queue',
    command: 'resumeQueue',
    run: (id, table, reason) => resumeQueue({ id, table }, { reason }),
  },
  'resume-breaker': {
    label: 'Close breaker',
    command: 'resumeBreaker',
    run: (id, _table, reason) => resumeBreaker({ id, table: null }, { reason }),
  },
  retry: {
    label: 'Retry',
    command: 'retryJob',
    run: async (id, table, reason) => (await retryJob({ id, table }, { reason })).next,
  },
  'raise-attempts': {
    label: 'One more attempt',
    command: 'retryJob',
    run: async (id, table, reason) => (await retryJob({ id, table }, { reason, reset_attempts: false })).next,
  },
  cancel: {
    label: 'Cancel job',
    command: 'cancelJob',
    isDanger: true,
    run: (id, table, reason) => cancelJob({ id, table }, { reason }),
  },
  'drain-worker': {
    label: 'Drain worker',
    command: 'drainWorker',
    isDanger: true,
    run: (id, table, reason) => drainWorker({ id, table }, { reason }),
  },
  'run-now': {
    label: 'Run now',
    command: 'retryJob',
    run: async (id, table, reason) => (await retryJob({ id, table }, { reason, now: true })).next,
  },
}

const LABELS: Partial<Record<Remedy['act'], string>> = {
  'start-worker': 'Start a worker',
  'start-reaper': 'Start a reaper',
  'set-mode': 'Leave observe mode',
  'end-session': 'End the session',
}

interface RemedyButtonProps {
  remedy: Remedy
  table: string | null
  /** The usual act of its cause. */
  isMain?: boolean
}

export function RemedyButton({ remedy, table, isMain = false }: RemedyButtonProps) {
  const [isAsking, setAsking] = useState(false)
  const refusal = useRefusal()
  const deed = DEEDS[remedy.act]
  const label = deed?.label ?? LABELS[remedy.act] ?? remedy.act
  const name = remedy.subject === '' || deed === undefined ? label : `${label} ${remedy.subject}`
  const command = useCommand(
    async (reason: string): Promise<unknown> => deed?.run(remedy.subject, table, reason),
  )
  const close = () => setAsking(false)
  return (
    <>
      <Button
        label={name}
        kind={isMain ? 'main' : 'plain'}
        refusal={deed === undefined ? null : refusal(deed.command)}
        onClick={() => setAsking(true)}
      >
        {label}
      </Button>
      {!isAsking ? null : deed === undefined ? (
        <Dialog title={label} onClose={close}>
          <div className="flex flex-col gap-4">
            <p className="text-soft">{remedy.effect}</p>
            <CopyLine line={remedy.command} />
          </div>
        </Dialog>
      ) : (
        <ChangeDialog
          title={name}
          verb={label}
          effect={remedy.effect}
          isDanger={deed.isDanger ?? false}
          cli={({ reason }) => remedy.command.replace('…', () => quoted(reason))}
          close={close}
          run={async ({ reason }) => {
            const said = await command.mutateAsync(reason)
            say(typeof said === 'string' ? `${label}: ${said}` : `${name}: done.`)
          }}
        />
      )}
    </>
  )
}
