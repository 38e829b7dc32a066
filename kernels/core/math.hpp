// Logarithm, exponential, power, sine and cosine: the same bits on every machine. Errors are below 0.51 units in the last place, those of
// sine and cosine below 0.6. The method is in math.cpp.
#pragma once

namespace ck {

double log(double x);
double exp(double x);
double pow(double x, double y);
double sin(double x);
double cos(double x);

}  // namespace ck
