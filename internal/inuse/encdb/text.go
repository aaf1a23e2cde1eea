package encdb

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
)

// appendText appends the text of a value of the binary protocol, which has one
// of the sizes of its type. decimals are those of the column; 31 and more means
// they are not known, and the value's own digits are shown.
func appendText(dst []byte, typ, decimals byte, v []byte) ([]byte, error) {
	switch typ {
	case TypeTiny, TypeShort, TypeInt24, TypeLong, TypeLongLong:
		return strconv.AppendInt(dst, intLE(v), 10), nil
	case TypeYear:
		return appendDigits(dst, uintLE(v), 4), nil
	case TypeFloat:
		return appendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(v))), decimals, 32), nil
	case TypeDouble:
		return appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(v)), decimals, 64), nil
	case TypeDate, TypeNewDate:
		return appendDate(dst, v), nil
	case TypeDateTime, TypeTimestamp:
		return appendDateTime(dst, v, decimals), nil
	case TypeTime:
		return appendTime(dst, v, decimals), nil
	}
	return append(dst, v...), nil
}

// appendFloat writes the shortest digits that give the same number again, or
// as many decimals as the column has. MySQL's own text has fewer digits for
// FLOAT; the number it stands for is not the stored one then.
func appendFloat(dst []byte, f float64, decimals byte, bits int) []byte {
	if decimals < 31 {
		return strconv.AppendFloat(dst, f, 'f', int(decimals), bits)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-15 || a >= 1e15) {
		n := len(dst)
		dst = strconv.AppendFloat(dst, f, 'e', -1, bits)
		return append(dst[:n], bytes.Replace(dst[n:], []byte("e+"), []byte("e"), 1)...)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bits)
}

func appendDigits(dst []byte, n uint64, width int) []byte {
	for limit := uint64(10); width > 1; width, limit = width-1, limit*10 {
		if n < limit {
			dst = append(dst, '0')
		}
	}
	return strconv.AppendUint(dst, n, 10)
}

func appendDate(dst, v []byte) []byte {
	var full [4]byte
	copy(full[:], v)
	dst = appendDigits(dst, uintLE(full[:2]), 4)
	dst = appendDigits(append(dst, '-'), uint64(full[2]), 2)
	return appendDigits(append(dst, '-'), uint64(full[3]), 2)
}

func appendClock(dst []byte, hours uint64, minute, second byte, micros uint64, decimals byte) []byte {
	dst = appendDigits(dst, hours, 2)
	dst = appendDigits(append(dst, ':'), uint64(minute), 2)
	dst = appendDigits(append(dst, ':'), uint64(second), 2)
	if decimals > 6 {
		if micros == 0 {
			return dst
		}
		decimals = 6
	}
	if decimals == 0 {
		return dst
	}
	dst = append(dst, '.')
	n := len(dst)
	return appendDigits(dst, micros, 6)[:n+int(decimals)]
}

func appendDateTime(dst, v []byte, decimals byte) []byte {
	var full [11]byte
	copy(full[:], v)
	dst = append(appendDate(dst, full[:4]), ' ')
	return appendClock(dst, uint64(full[4]), full[5], full[6], uintLE(full[7:]), decimals)
}

func appendTime(dst, v []byte, decimals byte) []byte {
	var full [12]byte
	copy(full[:], v)
	if full[0] != 0 {
		dst = append(dst, '-')
	}
	hours := uintLE(full[1:5])*24 + uint64(full[5])
	return appendClock(dst, hours, full[6], full[7], uintLE(full[8:]), decimals)
}
