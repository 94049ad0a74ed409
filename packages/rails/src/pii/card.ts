/** First digits and lengths of the card brands. */
const BRANDS: readonly { readonly starts: RegExp; readonly lengths: readonly number[] }[] = [
  { starts: /^4/, lengths: [13, 16, 18, 19] }, // Visa
  { starts: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] }, // Mastercard
  { starts: /^3[47]/, lengths: [15] }, // American Express
  { starts: /^(?:6011|64[4-9]|65)/, lengths: [16, 17, 18, 19] }, // Discover
  { starts: /^(?:30[0-5]|309|36|38|39)/, lengths: [14, 15, 16, 17, 18, 19] }, // Diners Club
  { starts: /^35/, lengths: [16, 17, 18, 19] }, // JCB
  { starts: /^(?:2131|1800)/, lengths: [15] }, // JCB, older ones
  { starts: /^(?:50|5[6-9]|6[0-9]|0604)/, lengths: [12, 13, 14, 15, 16, 17, 18, 19] }, // Maestro, UnionPay, RuPay and others
  { starts: /^220[0-4]/, lengths: [16, 17, 18, 19] }, // Mir
  { starts: /^(?:8[12]|9792)/, lengths: [16] }, // RuPay, Troy
];

/** Whether digits are a card number: a brand's first digits and length, and the check digit. */
export function isCard(digits: string): boolean {
  return (
    BRANDS.some(({ starts, lengths }) => lengths.includes(digits.length) && starts.test(digits)) &&
    luhn(digits)
  );
}

function luhn(digits: string): boolean {
  let sum = 0;
  let seen = 0; // so many different digits: sixteen zeros pass the check and are no card
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    seen |= 1 << digit;
    if (i % 2 === 0) sum += digit;
    else sum += digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return sum % 10 === 0 && (seen & (seen - 1)) !== 0;
}
