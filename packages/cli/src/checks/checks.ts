import { checkApplication } from './application.ts'
import { checkAssertions } from './assertion.ts'
import { checkAudiences } from './audience.ts'
import { checkCall } from './call.ts'
import { checkCertificates } from './certificate.ts'
import { checkClocks } from './clock.ts'
import { checkConnections } from './connection.ts'
import { type Check, together } from './finding.ts'
import { checkRates } from './rate.ts'
import { checkResponses } from './response.ts'
import { checkSecrets } from './secret.ts'
import { checkShared } from './shared.ts'
import { checkTlsSettings } from './tls-settings.ts'
import { checkTokens } from './token.ts'

/** The tables of each subject, in the order in which findings of one severity are shown. */
export const check: Check = together(
  checkApplication,
  checkTlsSettings,
  checkClocks,
  checkConnections,
  checkCertificates,
  checkTokens,
  checkCall,
  checkAudiences,
  checkSecrets,
  checkAssertions,
  checkResponses,
  checkRates,
  checkShared,
)
