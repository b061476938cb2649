import type { Job } from '../../../src/http/contract/index.ts'
import { percentOf } from '../../../src/job/show-progress.ts'
import { barOf } from '../ui/tone.ts'

/** The progress that the handler has reported. */
export function JobProgressBar({ progress, isRunning }: { progress: Progress; isRunning: boolean }) {
  const percent = percentOf(progress)
  return (
    <div className="flex flex-col gap-1.5">
      <p className="flex flex-wrap items-baseline gap-x-3 text-xs">
        <span className="font-mono">{percent} %</span>
        {progress.text === null ? null : (
          <span className="min-w-0 break-words text-soft">{progress.text}</span>
        )}
      </p>
      <div
        role="progressbar"
        aria-label="Progress"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        aria-valuetext={progress.text === null ? `${percent} %` : `${percent} %: ${progress.text}`}
        className="h-2 w-full overflow-hidden rounded-full bg-raised"
      >
        <div
          className={`h-full rounded-full ${barOf[isRunning ? 'info' : 'quiet']}`}
          style={{ width: `${progress.value * 100}%` }}
        />
      </div>
    </div>
  )
}

type Progress = NonNullable<Job['progress']>
