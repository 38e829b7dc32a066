// Logarithm, exponential and power: the same bits on every machine, error below 0.51 units in the last place. The method is in math.cpp.
#pragma once

namespace ck {

double log(double x);
double exp(double x);
double pow(double x, double y);

}  // namespace ck
