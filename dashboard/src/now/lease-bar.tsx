// A lease as a bar that empties until the next heartbeat. The compositor animates it: React renders once per heartbeat.
import { useEffect, useRef } from 'react'
import { type LiveLease, leaseLeftMs, leaseLengthMs } from '../api/live-state.ts'
import { useIsStill } from '../settings/preferences.ts'
import { barOf, type Tone } from '../ui/tone.ts'

const FLASH_MS = 150

export interface LeaseLook {
  leftMs: number | null
  share: number
  tone: Tone
  sign: string
  word: string
}

export function leaseLook(lease: LiveLease, nowMs: number): LeaseLook {
  const leftMs = leaseLeftMs(lease, nowMs)
  if (leftMs === null) return { leftMs, share: 0, tone: 'quiet', sign: '?', word: 'no lease' }
  const share = Math.min(1, Math.max(0, leftMs / (leaseLengthMs(lease) ?? Math.max(leftMs, 1))))
  if (leftMs <= 0) return { leftMs, share: 0, tone: 'bad', sign: '✕', word: 'over' }
  if (share < 0.25) return { leftMs, share, tone: 'warn', sign: '▯', word: 'late' }
  return { leftMs, share, tone: 'good', sign: '▮', word: 'fresh' }
}

export function LeaseBar({
  lease,
  look,
  isBig = false,
}: {
  lease: LiveLease
  look: LeaseLook
  isBig?: boolean
}) {
  const fill = useRef<HTMLSpanElement>(null)
  const isStill = useIsStill()
  const shareNow = useRef(look.share)
  shareNow.current = look.share
  const leftNow = useRef(look.leftMs)
  leftNow.current = look.leftMs
  // Only a heartbeat changes the end of the lease.
  const leaseEnd = lease.lease_expires_at
  useEffect(() => {
    const element = fill.current
    if (element === null || isStill || leaseEnd === null) return undefined
    const drain = element.animate(
      [{ transform: `scaleX(${shareNow.current})` }, { transform: 'scaleX(0)' }],
      { duration: Math.max(0, leftNow.current ?? 0), easing: 'linear', fill: 'forwards' },
    )
    const flash = element.animate([{ filter: 'brightness(1.6)' }, { filter: 'none' }], FLASH_MS)
    return () => {
      drain.cancel()
      flash.cancel()
    }
  }, [isStill, leaseEnd])
  const still = isStill ? { transform: `scaleX(${look.share})` } : {}
  return (
    <span
      aria-hidden="true"
      className={`relative block overflow-hidden rounded-full bg-raised ${isBig ? 'h-4' : 'h-2.5'} ${look.tone === 'bad' ? 'ring-1 ring-bad-bar' : ''}`}
    >
      <span
        ref={fill}
        className={`absolute inset-0 origin-left rounded-full transition-colors ${barOf[look.tone]}`}
        style={still}
      />
      <Deadline lease={lease} />
    </span>
  )
}

/** A notch at the hard deadline, which no heartbeat extends. */
function Deadline({ lease }: { lease: LiveLease }) {
  const length = leaseLengthMs(lease)
  if (lease.deadline_at === null || lease.lease_expires_at === null || length === null) return null
  const distance = Date.parse(lease.deadline_at) - Date.parse(lease.lease_expires_at)
  if (distance > length) return null
  return <span className="absolute inset-y-0 right-0 w-0.5 bg-ink" />
}
