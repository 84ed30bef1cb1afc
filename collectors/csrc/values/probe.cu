/* gviz_probe: what ranges of memory hold: a hash of all bytes, and statistics of the elements.
 *
 * A block sums up one part of one range. Words are read whole, at addresses that are multiples of 8;
 * bytes outside the range count as zero. Nothing is written but the parts, so that a probe can be
 * launched again.
 */
typedef unsigned long long u64;

/* As enum element_type of the records; of bytes there are no statistics. */
enum { BYTES, BOOL, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64, F8_E4M3, F8_E5M2 };

struct range {
    u64 at, bytes, to; /* to: its first part */
    unsigned type, parts;
};
struct part {
    u64 hash, nan, infinite, zero;
    double least, greatest, sum;
    u64 finite;
};

static __device__ double half(unsigned bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((unsigned short)bits));
    return value;
}

static __device__ unsigned width(unsigned type) {
    switch (type) {
    case F64: case I64: case U64:
        return 8;
    case F32: case I32: case U32:
        return 4;
    case F16: case BF16: case I16: case U16:
        return 2;
    default:
        return 1;
    }
}

static __device__ double value_of(u64 bits, unsigned type) {
    switch (type) {
    case F16: return half((unsigned)bits);
    case BF16: return __uint_as_float((unsigned)bits << 16);
    case F32: return __uint_as_float((unsigned)bits);
    case F64: return __longlong_as_double((long long)bits);
    case F8_E4M3: /* all ones are its only NaN; a half has 8 more in its exponent's bias */
        return (bits & 0x7f) == 0x7f ? __longlong_as_double(0x7ff8000000000000ll)
                                     : 256.0 * half((unsigned)((bits & 0x80) << 8 | (bits & 0x7f) << 7));
    case F8_E5M2: return half((unsigned)bits << 8);
    case I8: return (double)(signed char)bits;
    case I16: return (double)(short)bits;
    case I32: return (double)(int)bits;
    case I64: return (double)(long long)bits;
    default: return (double)bits;
    }
}

static __device__ void take(struct part *part, double value) {
    if (value != value) {
        part->nan++;
    } else if (isinf(value)) {
        part->infinite++;
    } else {
        part->zero += value == 0;
        part->finite++;
        part->sum += value;
        part->least = value < part->least ? value : part->least;
        part->greatest = value > part->greatest ? value : part->greatest;
    }
}

static __device__ void join(struct part *part, const struct part *other) {
    part->hash += other->hash;
    part->nan += other->nan;
    part->infinite += other->infinite;
    part->zero += other->zero;
    part->finite += other->finite;
    part->sum += other->sum;
    part->least = other->least < part->least ? other->least : part->least;
    part->greatest = other->greatest > part->greatest ? other->greatest : part->greatest;
}

static __device__ u64 mix(u64 x, u64 place) {
    x += (place + 1) * 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

/* The bytes of a word that lie in the range, as a mask. */
static __device__ u64 mask_of(u64 word, u64 at, u64 end) {
    u64 mask = ~0ull;
    if (word < at)
        mask <<= 8 * (at - word);
    if (word + 8 > end)
        mask &= ~0ull >> 8 * (word + 8 - end);
    return mask;
}

extern "C" __global__ void __launch_bounds__(256) gviz_probe(u64 table) {
    __shared__ struct part parts[256];
    const struct range range = ((const struct range *)table)[blockIdx.y];
    if (blockIdx.x >= range.parts)
        return;
    const u64 end = range.at + range.bytes, first = range.at / 8, words = (end + 7) / 8 - first;
    const u64 each = (words + range.parts - 1) / range.parts, from = blockIdx.x * each;
    const u64 to = from + each < words ? from + each : words;
    const unsigned bytes = width(range.type);
    struct part part = {0, 0, 0, 0, __longlong_as_double(0x7ff0000000000000ll),
                        __longlong_as_double(0xfff0000000000000ll), 0, 0};
    #pragma unroll 1
    for (u64 i = from + threadIdx.x; i < to; i += 256) {
        const u64 word = (first + i) * 8, mask = mask_of(word, range.at, end), bits = *(const volatile u64 *)word & mask;
        part.hash += mix(bits, i);
        if (range.type == BYTES)
            continue;
        #pragma unroll 1
        for (unsigned j = 0; j < 8; j += bytes)
            if ((mask >> 8 * j & 0xff) && (mask >> 8 * (j + bytes - 1) & 0xff))
                take(&part, value_of(bits >> 8 * j & ~0ull >> (64 - 8 * bytes), range.type));
    }
    parts[threadIdx.x] = part;
    __syncthreads();
    #pragma unroll 1
    for (unsigned half = 128; half; half /= 2) {
        if (threadIdx.x < half)
            join(&parts[threadIdx.x], &parts[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        ((struct part *)range.to)[blockIdx.x] = parts[0];
}
