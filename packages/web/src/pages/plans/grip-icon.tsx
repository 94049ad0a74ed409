/** Six dots: what can be taken hold of. */
export function GripIcon() {
  const dots = [4, 8, 12].flatMap((y) => [6, 10].map((x) => ({ x, y })));
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" focusable="false" fill="currentColor">
      {dots.map(({ x, y }) => (
        <circle key={`${x} ${y}`} cx={x} cy={y} r="1.1" />
      ))}
    </svg>
  );
}
