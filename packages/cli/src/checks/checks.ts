import type { Check } from './finding.ts'
import {
  checkAttachments,
  checkEnvFile,
  checkEnvironments,
  checkMissingApis,
  checkPackages,
  checkRefused,
} from './application.ts'
import { checkReadable, checkStale } from './assertion.ts'
import { checkAudiences } from './audience.ts'
import { checkCall } from './call.ts'
import {
  checkAuthoritiesFile,
  checkCertificates,
  checkPrivateAuthorities,
  checkUnknownAuthorities,
} from './certificate.ts'
import { checkAssertions, checkSecrets } from './clients.ts'
import { checkOwnClock, checkServerClocks } from './clock.ts'
import { checkAxiosProxy, checkConnections } from './connection.ts'
import { checkLifetimes, checkMissingPolicy, checkPolicies, checkSlowed } from './rate.ts'
import { checkResponses, checkScopes, checkTokens } from './token.ts'
import { checkEnding, checkUnknownAge } from './secret.ts'
import { checkEvictions, checkInUse, checkShared } from './shared.ts'
import { checkTlsSettings } from './tls-settings.ts'

/** Every table of findings, in the order in which findings of one severity are shown. */
export const checks: readonly Check[] = [
  checkRefused,
  checkMissingApis,
  checkTlsSettings,
  checkOwnClock,
  checkServerClocks,
  checkConnections,
  checkAxiosProxy,
  checkAuthoritiesFile,
  checkUnknownAuthorities,
  checkCertificates,
  checkPrivateAuthorities,
  checkEnvFile,
  checkTokens,
  checkCall,
  checkAttachments,
  checkAudiences,
  checkEnvironments,
  checkEnding,
  checkUnknownAge,
  checkAssertions,
  checkSecrets,
  checkReadable,
  checkStale,
  checkLifetimes,
  checkScopes,
  checkResponses,
  checkPolicies,
  checkSlowed,
  checkMissingPolicy,
  checkShared,
  checkInUse,
  checkEvictions,
  checkPackages,
]
