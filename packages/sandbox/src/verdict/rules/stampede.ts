import type { SeenRequest } from '../../journal/entry.ts'
import { plural, type Rule } from '../rule.ts'

const remembered = 200

/** Token requests that were under way at the same time. */
export const stampede: Rule = {
  name: 'stampede',
  severity: 'error',
  message: (count) =>
    `${plural(count, 'token request was', 'token requests were')} sent while another one was under way`,
  fix: 'Let all callers that need a token share one token request (single flight). Several processes can share a token store.',
  watch(report) {
    let recent: SeenRequest[] = []
    return {
      see(request) {
        if (request.kind !== 'issuer') return
        const other = recent.find(
          (each) =>
            each.realm === request.realm &&
            each.beganAt < request.decidedAt &&
            request.beganAt < each.decidedAt,
        )
        if (other !== undefined) report(other.entry.id, request.entry.id)
        recent = [...recent.slice(1 - remembered), request]
      },
    }
  },
}
