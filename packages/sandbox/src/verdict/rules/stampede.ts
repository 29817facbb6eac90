import type { SeenRequest } from '../../journal/entry.ts'
import { plural } from '../../in-words.ts'
import type { Rule } from '../rule.ts'
import { TokenPairs } from '../token-pairs.ts'

const remembered = 200

/** Token requests that were under way at the same time. */
export const stampede: Rule = {
  name: 'stampede',
  severity: 'error',
  message: (count) =>
    `${plural(count, 'token request was', 'token requests were')} sent while another one was under way`,
  fix: 'Let all callers that need a token share one token request (single flight). Several processes can share a token store.',
  watch(report, keep) {
    let recent: SeenRequest[] = []
    const pairs = new TokenPairs()
    return {
      see(request) {
        pairs.see(request)
        if (request.kind !== 'issuer' || request.entry.decision === 'answered') return
        const other = recent.find(
          (each) =>
            each.realm === request.realm &&
            each.beganAt < request.decidedAt &&
            request.beganAt < each.decidedAt,
        )
        if (other !== undefined) {
          const evidence = [other.entry.id, request.entry.id]
          const [first, second] = [other.token, request.token]
          keep(...evidence)
          const settled =
            first === undefined || second === undefined
              ? { evidence }
              : pairs.add({ first, second, evidence, at: request.decidedAt })
          if (settled !== undefined) report(settled)
        }
        recent = [...recent.slice(1 - remembered), request]
      },
      open: () => pairs.all(),
    }
  },
}
