/*
 * Presence (LEASE-10): one worker with one job, its session with the lock, looks, and a reaper that takes the job of a worker
 * that is gone. The process may die, lose its session, be cut off, and the server may crash and recover. Each rule can be
 * removed by a definition, and the assertions must then fail.
 */

#define GRACE 2
#define LAST_TICK 8
#define NONE 255

#ifdef WITHOUT_GRACE
#define JUDGED_GRACE 0
#else
#define JUDGED_GRACE GRACE
#endif

#ifdef WITHOUT_EPOCH
#define IS_OF_THIS_RUN (rowEpoch != NONE)
#else
#define IS_OF_THIS_RUN (rowEpoch == epoch)
#endif

#ifdef WITHOUT_SIGN
#define HAS_SHOWN_LIFE false
#else
#define HAS_SHOWN_LIFE (seenAt >= vanishedAt)
#endif

#ifdef WITHOUT_KEY_LOCK
#define IS_LOCK_FREE true
#define MAY_RETURN true
#else
#define IS_LOCK_FREE (!isHeld)
#define MAY_RETURN (!isJudging)
#endif

#ifdef WITHOUT_VETO
#define IS_TAKEN isRunning
#else
#define IS_TAKEN (isRunning && beatAt < judgedVanishedAt)
#endif

#define IS_GONE (absentAt != NONE && absentAt >= vanishedAt + JUDGED_GRACE && !HAS_SHOWN_LIFE)
#define CAN_ACT (isAlive && !isCutOff && isUp)

byte now = 0;
bool isAlive = true;
/* Nothing it sends arrives. Its session stays. */
bool isCutOff = false;
bool isUp = true;
byte epoch = 0;
/* The lock of its session. */
bool isHeld = false;

/* The row in workers. */
byte rowEpoch = NONE;
byte vanishedAt = 0;
byte absentAt = NONE;
byte seenAt = 0;

bool isRunning = true;
byte beatAt = 0;

/* A reaper has judged the worker, and has not committed yet. */
bool isJudging = false;
byte judgedVanishedAt = 0;

/* Not in the database: ticks with the server up since the worker last held its lock or reached the server. */
byte silentFor = 0;
byte judgedSilentFor = 0;

active proctype worker() {
  do
  /* A returning worker waits for the transaction that takes its job. */
  :: atomic { CAN_ACT && !isHeld && MAY_RETURN ->
       isHeld = true; rowEpoch = epoch; absentAt = NONE; silentFor = 0 }
  :: atomic { CAN_ACT && isRunning && beatAt != now -> beatAt = now; silentFor = 0 }
  :: atomic { CAN_ACT && !isHeld && seenAt != now -> seenAt = now; silentFor = 0 }
  od
}

active proctype looker() {
  do
  :: atomic { isUp && absentAt != now ->
       if
       :: !isHeld && IS_OF_THIS_RUN && IS_GONE -> skip
       :: !isHeld && IS_OF_THIS_RUN && !IS_GONE ->
          if
          :: absentAt == NONE || absentAt + 2 * GRACE < now || HAS_SHOWN_LIFE -> vanishedAt = now
          :: else -> skip
          fi;
          absentAt = now
       :: isHeld -> rowEpoch = epoch; absentAt = NONE
       :: else -> absentAt = NONE; rowEpoch = NONE
       fi }
  od
}

active proctype reaper() {
  do
  :: atomic { isUp && !isJudging && isRunning && IS_OF_THIS_RUN && IS_GONE && IS_LOCK_FREE ->
       isJudging = true; judgedVanishedAt = vanishedAt; judgedSilentFor = silentFor }
  :: atomic { isUp && isJudging ->
       if
       :: IS_TAKEN ->
          assert(!isHeld);
          assert(!isAlive || judgedSilentFor >= GRACE);
#ifdef WITNESS
          assert(isAlive);
#endif
          isRunning = false
       :: else -> skip
       fi;
       isJudging = false }
  od
}

active proctype world() {
  do
  :: atomic { isAlive -> isAlive = false }
  /* By a death that the server has noticed, or by somebody who ended the session. */
  :: atomic { isHeld -> isHeld = false }
  :: atomic { isAlive -> isCutOff = !isCutOff }
  :: atomic { isUp && epoch < 2 -> isUp = false; isHeld = false; isJudging = false }
  :: atomic { !isUp -> isUp = true; epoch++ }
  /* Whoever can act without a lock does so in every tick: it reconnects, or shows life. */
  :: atomic { now < LAST_TICK && !(CAN_ACT && !isHeld && !isJudging && silentFor > 0) ->
       if
       :: isUp && !isHeld && silentFor < GRACE -> silentFor++
       :: else -> skip
       fi;
       now++ }
  od
}
