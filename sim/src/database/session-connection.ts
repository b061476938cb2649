// A client's connection for presence: calls over the simulated network, and a session that the server may end.
import { isUnstuckError } from '../../../src/errors/index.ts'
import { withResolvers } from '../../../src/runtime/timing/with-resolvers.ts'
import type { PresenceConnection } from '../../../src/store/presence-connection.ts'
import type { Session, Sessions } from './sessions.ts'

export interface SessionNetwork {
  /** Sends a statement and waits for its answer. */
  call<T>(name: string, run: () => T): Promise<T>
  /** A packet to the server, that nobody answers. */
  send(run: () => void): void
  /** A packet to the client. */
  notify(run: () => void): void
}

export function openSession(owner: string, sessions: Sessions, network: SessionNetwork): PresenceConnection {
  const lost = withResolvers<Error>()
  const session: Session = {
    owner,
    workerId: null,
    isWatching: false,
    usedAtMs: 0,
    onEnd: () => network.notify(() => lost.resolve(new Error('the session has ended'))),
  }
  const query = <T>(name: string, run: () => T): Promise<T> =>
    network.call(name, () => {
      if (!sessions.isOpen(session)) throw new Error('the session has ended')
      session.usedAtMs = sessions.nowMs()
      return run()
    })
  const close = () => network.send(() => sessions.end(session))
  return {
    connect: () => network.call('connect', () => sessions.begin(session)),
    isDirect: () => query('identify', () => true),
    prepare: () => query('preparePresence', () => {}),
    take: (workerId, lock) =>
      query('takePresence', () => {
        if (lock !== null) sessions.take(session, workerId, lock.graceMs)
      }),
    leave: (workerId) => query('leavePresence', () => sessions.leave(workerId)),
    watch: () => query('watchWorkers', () => sessions.watch(session)),
    look: () => query('lookAtWorkers', () => sessions.look()),
    untilLost: () => lost.promise,
    end: async () => close(),
    destroy: close,
    failureOf: (error) => (isUnstuckError(error, 'DATABASE_TIMEOUT') ? 'late' : 'other'),
  }
}
